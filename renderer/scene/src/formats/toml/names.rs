//! Names that others refer to.

use std::collections::HashMap;

/// Names in their order. Where one is takes no longer to find however many there are.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: Vec<String>,
    indices: HashMap<String, usize>,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let all: Vec<String> = names.map(str::to_owned).collect();
        let indices = all.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        Self { all, indices }
    }

    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(String::as_str)
    }
}
