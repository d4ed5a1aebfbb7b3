//! Public reports of what goes wrong where agents pay: each is a test that is named by its id, or
//! stands in [`NOT_OURS`] with the reason.

#[cfg(test)]
mod budget;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod identifier;
#[cfg(test)]
mod payment;
#[cfg(test)]
mod redirect;
#[cfg(test)]
mod settlement;

/// The reports of the areas *payment*, *identifier*, *settlement* and *redirect*, and those of *budget*
/// and *security* that are about limits and the gate before the signer.
#[cfg(test)]
const REPORTS: [&str; 67] = [
    "pw002", "pw004", "pw005", "pw007", "pw008", "pw009", "pw011", "pw012", "pw014", "pw016",
    "pw017", "pw019", "pw020", "pw021", "pw023", "pw025", "pw026", "pw028", "pw029", "pw030",
    "pw032", "pw033", "pw034", "pw036", "pw037", "pw038", "pw040", "pw041", "pw042", "pw043",
    "pw044", "pw045", "pw047", "pw050", "pw052", "pw053", "pw055", "pw056", "pw061", "pw062",
    "pw063", "pw065", "pw066", "pw067", "pw068", "pw069", "pw203", "pw205", "pw206", "pw207",
    "pw208", "pw209", "pw210", "pw211", "pw213", "pw215", "pw216", "pw217", "pw218", "pw219",
    "pw221", "pw224", "pw225", "pw227", "pw228", "pw229", "pw231",
];

/// The reports that do not apply, and why.
#[cfg(test)]
const NOT_OURS: [&[(&str, &str)]; 6] = [
    budget::NOT_OURS,
    gate::NOT_OURS,
    identifier::NOT_OURS,
    payment::NOT_OURS,
    redirect::NOT_OURS,
    settlement::NOT_OURS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_is_a_test_or_says_why_it_does_not_apply() {
        let sources = [
            include_str!("budget.rs"),
            include_str!("gate.rs"),
            include_str!("identifier.rs"),
            include_str!("payment.rs"),
            include_str!("redirect.rs"),
            include_str!("settlement.rs"),
        ]
        .concat();
        for report in REPORTS {
            let tests = sources.matches(&format!("fn {report}_")).count();
            let excused = NOT_OURS.iter().copied().flatten();
            let excuses = excused.filter(|(id, why)| *id == report && !why.is_empty());
            assert!(tests + excuses.count() >= 1, "{report}");
        }
    }
}
