//! Parameters of a scene: `$name` in attributes.

/// Longest attribute after its parameters are replaced, bytes.
const LONGEST: usize = 1 << 20;
/// Most bytes of all attributes with parameters: parameters that are made of others grow fast.
const MOST: usize = 64 << 20;

/// Why parameters cannot be put into a text.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum SubstitutionError {
    /// There is no such parameter; the end of the sentence.
    #[error("there is no parameter {}{hint}", torrance_text::quoted(name))]
    Unknown { name: String, hint: String },
    #[error("parameters make this too long")]
    TooLong,
}

/// The parameters known so far, the longest names first.
pub(super) struct Parameters {
    list: Vec<Parameter>,
    /// Bytes written so far.
    written: usize,
}

struct Parameter {
    name: String,
    value: String,
    /// Whether it is set from outside and nothing has asked for it yet.
    is_unused: bool,
}

impl Parameters {
    /// Those set from outside.
    pub(super) fn new(defines: &[(String, String)]) -> Self {
        let mut parameters = Self { list: Vec::new(), written: 0 };
        for (name, value) in defines {
            // The last of several counts, as on any command line.
            parameters.list.retain(|p| p.name != *name);
            parameters.insert(Parameter { name: name.clone(), value: value.clone(), is_unused: true });
        }
        parameters
    }

    fn insert(&mut self, parameter: Parameter) {
        let at = self.list.partition_point(|p| p.name.len() >= parameter.name.len());
        self.list.insert(at, parameter);
    }

    /// Sets a parameter that has no value yet.
    pub(super) fn set_default(&mut self, name: String, value: String) {
        match self.list.iter_mut().find(|p| p.name == name) {
            Some(known) => known.is_unused = false,
            None => self.insert(Parameter { name, value, is_unused: false }),
        }
    }

    /// Names of those set from outside that nothing asked for.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|p| p.is_unused).map(|p| p.name.as_str())
    }

    /// Names of those that the scene has.
    pub(super) fn names(&self) -> Vec<String> {
        self.list.iter().filter(|p| !p.is_unused).map(|p| p.name.clone()).collect()
    }

    /// A text with the values of parameters in their place.
    ///
    /// # Errors
    /// There is no such parameter, or the text becomes too long.
    pub(super) fn replaced(&mut self, text: &str) -> Result<String, SubstitutionError> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let Some(parameter) = self.list.iter_mut().find(|p| after.starts_with(&p.name)) else {
                let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
                let (name, known) = (&after[..end], self.names());
                let hint = torrance_text::hint(name, "the scene has", known.iter().map(String::as_str));
                return Err(SubstitutionError::Unknown { name: name.to_owned(), hint });
            };
            parameter.is_unused = false;
            out.push_str(&parameter.value);
            rest = &after[parameter.name.len()..];
            self.written += parameter.value.len();
            if out.len() > LONGEST || self.written > MOST {
                return Err(SubstitutionError::TooLong);
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(list: &[(&str, &str)]) -> Parameters {
        let list: Vec<_> = list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Parameters::new(&list)
    }

    #[test]
    fn longest_names_win_and_defaults_give_way() {
        let mut parameters = defined(&[("a", "1"), ("ab", "2")]);
        parameters.set_default("a".to_owned(), "9".to_owned());
        parameters.set_default("c".to_owned(), "3".to_owned());
        assert_eq!(parameters.replaced("$a/$ab/$abc/x$c$c").as_deref(), Ok("1/2/2c/x33"));
        assert_eq!(parameters.replaced("none").as_deref(), Ok("none"));
        assert_eq!(parameters.unused().count(), 0);
        let message = parameters.replaced("$bad").unwrap_err().to_string();
        assert_eq!(message, "there is no parameter \"bad\"; the scene has \"ab\", \"a\" or \"c\"");
    }

    #[test]
    fn what_nothing_asks_for_is_known() {
        let mut parameters = defined(&[("a", "1"), ("b", "2"), ("b", "3")]);
        assert_eq!(parameters.replaced("$b").as_deref(), Ok("3"));
        assert_eq!(parameters.unused().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn values_cannot_grow_without_end() {
        let mut parameters = defined(&[]);
        let mut value = "x".repeat(1000);
        for i in 0..10 {
            parameters.set_default(format!("p{i}"), value);
            value = match parameters.replaced(&format!("$p{i}$p{i}$p{i}$p{i}")) {
                Ok(value) => value,
                Err(error) => return assert_eq!(error, SubstitutionError::TooLong),
            };
        }
        panic!("{} bytes", value.len());
    }
}
