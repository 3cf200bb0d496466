//! Memory of the host that several hold.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Elements that the host and a back end may hold at once. Whoever writes to them while others hold them gets a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared<T>(Arc<Vec<T>>);

impl<T> Shared<T> {
    /// Whether both are the same elements, and not only equal ones.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(Arc::new(elements))
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        Arc::<Vec<T>>::make_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_share_until_one_writes() {
        let mut one = Shared::from(vec![1, 2, 3]);
        let other = one.clone();
        assert_eq!(one.as_ptr(), other.as_ptr());
        one[1] = 5;
        assert_eq!((&*one, &*other), (&[1, 5, 3][..], &[1, 2, 3][..]));
        assert_ne!(one.as_ptr(), other.as_ptr());
    }
}
