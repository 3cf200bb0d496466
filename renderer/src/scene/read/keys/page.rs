pub(crate) fn page() -> String {
    String::new()
}
