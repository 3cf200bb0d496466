//! Reductions, against folds.
