//! Parameters of sweeps and their values, as `--param` takes them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use renderer::sweep::{Grid, spec};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Files of values are read from anywhere.
    if text.contains('@') {
        return;
    }
    let specs: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let words = |_: &str| Ok(vec!["one".to_owned(), "two".to_owned()]);
    if let Ok(axes) = spec::parse(&specs, &words)
        && let Ok(grid) = Grid::new(axes, None)
    {
        let names: Vec<_> = (0..grid.variants().min(100)).map(|i| grid.name(i)).collect();
        assert!(names.iter().all(|name| !name.contains('\n')), "{names:?}");
    }
});
