//! The whole table at a tiny size: what is not run rots. Figures are not looked at; that is for a quiet machine.

use std::path::Path;

use bench::{Size, compare};

#[test]
fn every_line_of_the_table_can_be_measured() {
    let table = compare(&Size::tiny(), Path::new(env!("CARGO_BIN_EXE_bench")), &[]).unwrap();
    for id in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"] {
        let row = table.lines().find(|line| line.split("  ").next() == Some(id));
        assert!(row.is_some(), "no line {id} in\n{table}");
    }
    assert!(table.contains(" cores, "), "the machine is named:\n{table}");
}
