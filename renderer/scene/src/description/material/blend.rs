//! A mixture of two materials.

use bytemuck::Zeroable;

use super::Blend;
use super::parameters::{Parameter, ParameterList, UNIT, parameters};
use crate::description::key::Key;
use crate::description::key::Value::{Name, Several};

const WEIGHT: Key =
    Key::new("weight", UNIT, "The part of the second one.").required("0.5").hint("(the part of the second)");

parameters! {
    Blend = Self::zeroed();
    Materials materials = [Key::new("materials", Several(2, &Name("material")), "The two.").required("[\"rust\", \"steel\"]")];
    Scalar weight = [WEIGHT];
}
