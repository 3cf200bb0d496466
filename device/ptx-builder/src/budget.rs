//! Budgets of each kernel's resources: recorded, and compared with what it uses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::audit::Audit;
use crate::error::{Error, Result};
use crate::ptxas::{Kernels, Usage};
use crate::table::table;

/// The record, relative to the repository root.
pub const FILE: &str = "device/ptx-builder/budgets.toml";

/// Resources that one kernel uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Places from which it can panic.
    pub panics: u32,
    /// Usage by architecture.
    #[serde(flatten)]
    pub usage: BTreeMap<String, Usage>,
}

/// All kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// The assembler's version: another one may allocate otherwise.
    pub ptxas: String,
    /// By name.
    #[serde(default)]
    pub kernels: BTreeMap<String, Kernel>,
}

impl Budgets {
    /// Budgets equal to the measured usage. An error if the assembler reported nothing for a kernel on some architecture.
    pub fn measured(ptxas: &str, audit: &Audit, usage: &[(&str, Kernels)]) -> Result<Self> {
        for (architecture, all) in usage {
            let absent: Vec<_> = audit.kernels().filter(|name| !all.contains_key(*name)).collect();
            if !absent.is_empty() {
                return Err(Error::Rejected(format!(
                    "ptxas {ptxas} does not say what kernels use on {architecture}: {}",
                    absent.join(", ")
                )));
            }
        }
        let of = |name: &str| {
            let usage = usage.iter().filter_map(|(arch, all)| Some(((*arch).to_owned(), *all.get(name)?)));
            Kernel { panics: audit.panic_count(name), usage: usage.collect() }
        };
        let kernels = audit.kernels().map(|name| (name.to_owned(), of(name))).collect();
        Ok(Self { ptxas: ptxas.to_owned(), kernels })
    }

    /// The record; without the file, an empty one.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        toml::from_str(&text).map_err(|error| Error::Rejected(format!("{FILE}: {error}")))
    }

    /// Writes the record.
    pub fn write(&self, root: &Path) -> Result<()> {
        let path = root.join(FILE);
        fs::write(&path, self.to_toml()).map_err(Error::io("write", &path))
    }

    /// One line for each kernel and architecture, so that a change shows as one.
    fn to_toml(&self) -> String {
        let mut text = format!(
            "# What each kernel may use, by GPU generation: `cargo ptx --check` compares, `--bless` records.\n\
             ptxas = \"{}\"\n",
            self.ptxas
        );
        for (name, kernel) in &self.kernels {
            let _ = writeln!(text, "\n[kernels.{name}]\npanics = {}", kernel.panics);
            let mut usage: Vec<_> = kernel.usage.iter().collect();
            usage.sort_by_key(|(architecture, _)| generation(architecture));
            for (architecture, Usage { registers, stack, spill_stores, spill_loads, shared }) in usage {
                let _ = writeln!(
                    text,
                    "{architecture} = {{ registers = {registers}, stack = {stack}, spill_stores = {spill_stores}, \
                     spill_loads = {spill_loads}, shared = {shared} }}"
                );
            }
        }
        text
    }

    /// Everything in `now` that is more than this record allows, one line each.
    pub fn violations(&self, now: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, kernel) in &now.kernels {
            match self.kernels.get(name) {
                Some(budget) => found.extend(budget.exceeded(kernel).map(|what| format!("{name}: {what}"))),
                None => found.push(format!("{name}: a new kernel, without a budget")),
            }
        }
        let gone = self.kernels.keys().filter(|name| !now.kernels.contains_key(*name));
        found.extend(gone.map(|name| format!("{name}: has a budget, but is not in the PTX")));
        found
    }

    /// Whether some kernel uses less than it may.
    pub fn has_slack(&self, now: &Self) -> bool {
        now.kernels.iter().any(|(name, kernel)| {
            self.kernels.get(name).is_some_and(|budget| kernel.exceeded(budget).next().is_some())
        })
    }

    /// Keeps the record for architectures that could not be measured.
    pub fn keep_unmeasured(&mut self, recorded: &Self) {
        for (name, kernel) in &mut self.kernels {
            for (architecture, usage) in
                recorded.kernels.get(name).into_iter().flat_map(|kernel| &kernel.usage)
            {
                kernel.usage.entry(architecture.clone()).or_insert(*usage);
            }
        }
    }

    /// Registers by architecture; the rest as one number, or a range where architectures differ.
    pub fn to_table(&self, architectures: &[&str]) -> String {
        let heading = ["kernel"].into_iter().chain(architectures.iter().copied());
        let heading = heading.chain(["stack", "spill st", "spill ld", "shared", "panics"]).map(str::to_owned);
        let mut lines = vec![heading.collect::<Vec<_>>()];
        for (name, kernel) in &self.kernels {
            let registers = architectures.iter().map(|architecture| {
                kernel.usage.get(*architecture).map_or("-".to_owned(), |usage| usage.registers.to_string())
            });
            let mut line: Vec<_> = std::iter::once(name.clone()).chain(registers).collect();
            let fields: [fn(&Usage) -> u32; 4] =
                [|u| u.stack, |u| u.spill_stores, |u| u.spill_loads, |u| u.shared];
            line.extend(fields.map(|field| range(kernel.usage.values().map(field))));
            line.push(kernel.panics.to_string());
            lines.push(line);
        }
        table(&lines)
    }
}

impl Kernel {
    fn exceeded<'a>(&'a self, now: &'a Self) -> impl Iterator<Item = String> + 'a {
        let more = |what: String, budget: u32, now: u32| {
            (now > budget).then(|| format!("{what}: {now}, and the budget is {budget}"))
        };
        let panics = more("places that can panic".into(), self.panics, now.panics);
        let usage = now.usage.iter().flat_map(move |(architecture, usage)| {
            let Some(budget) = self.usage.get(architecture) else {
                return vec![format!("{architecture}: no budget")];
            };
            let fields = [
                ("registers", budget.registers, usage.registers),
                ("bytes of stack", budget.stack, usage.stack),
                ("bytes of spill stores", budget.spill_stores, usage.spill_stores),
                ("bytes of spill loads", budget.spill_loads, usage.spill_loads),
                ("bytes of shared memory", budget.shared, usage.shared),
            ];
            let fields = fields.into_iter();
            fields
                .filter_map(|(what, budget, now)| more(format!("{architecture}: {what}"), budget, now))
                .collect()
        });
        panics.into_iter().chain(usage)
    }
}

/// `sm_100` comes after `sm_90`.
fn generation(architecture: &str) -> u32 {
    architecture.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(u32::MAX)
}

fn range(values: impl Iterator<Item = u32> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low}..{high}"),
        _ => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(panics: u32, registers: u32, spill_stores: u32) -> Budgets {
        let usage = Usage { registers, spill_stores, ..Usage::default() };
        let kernel =
            Kernel { panics, usage: [("sm_75".to_owned(), usage), ("sm_100".to_owned(), usage)].into() };
        Budgets { ptxas: "1.0".into(), kernels: [("shade".to_owned(), kernel)].into() }
    }

    #[test]
    fn the_same_is_within_budget_and_less_is_slack() {
        let budget = one(1, 64, 0);
        assert!(budget.violations(&budget).is_empty() && !budget.has_slack(&budget));
        assert!(budget.violations(&one(0, 60, 0)).is_empty() && budget.has_slack(&one(0, 64, 0)));
    }

    #[test]
    fn each_kind_of_growth_is_named() {
        let budget = one(0, 64, 0);
        assert_eq!(budget.violations(&one(0, 65, 0)).len(), 2);
        assert_eq!(
            budget.violations(&one(0, 65, 0))[0],
            "shade: sm_100: registers: 65, and the budget is 64"
        );
        assert!(budget.violations(&one(0, 64, 4))[0].contains("spill stores"));
        assert!(budget.violations(&one(1, 64, 0))[0].contains("panic"));
    }

    #[test]
    fn kernels_come_and_go_only_with_a_budget() {
        let (none, some) = (Budgets::default(), one(0, 64, 0));
        assert_eq!(none.violations(&some), ["shade: a new kernel, without a budget"]);
        assert_eq!(some.violations(&none), ["shade: has a budget, but is not in the PTX"]);
    }

    #[test]
    fn the_file_reads_back_as_written_in_order() {
        let text = one(1, 64, 8).to_toml();
        assert_eq!(toml::from_str::<Budgets>(&text).unwrap(), one(1, 64, 8));
        assert!(text.find("sm_75").unwrap() < text.find("sm_100").unwrap(), "{text}");
    }

    #[test]
    fn an_unmeasured_architecture_keeps_its_record() {
        let mut now = one(0, 60, 0);
        now.kernels.get_mut("shade").unwrap().usage.remove("sm_75");
        now.keep_unmeasured(&one(0, 64, 0));
        let usage = &now.kernels["shade"].usage;
        assert_eq!((usage["sm_75"].registers, usage["sm_100"].registers), (64, 60));
    }
}
