//! The built example as a process.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::SystemTime;

use tokio::process::Command;

/// A published test key: it holds nothing on any chain.
pub(crate) const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// What one run of the program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns the one sentence of a run that failed with `status` and printed nothing else.
    pub(crate) fn sentence(&self, status: i32) -> &str {
        assert_eq!(
            (self.status, self.stdout.as_str()),
            (status, ""),
            "{self:?}"
        );
        let lines: Vec<_> = self.stderr.lines().collect();
        let [line] = lines.as_slice() else {
            panic!("one sentence, not {lines:?}");
        };
        line
    }
}

/// Runs the program with the key of the tests.
pub(crate) async fn buy(words: &[&str]) -> Ran {
    buy_with(Some(KEY), words).await
}

/// Runs the program with `key` in `BUY_KEY`; whatever comes of it, the key is printed nowhere.
pub(crate) async fn buy_with(key: Option<&str>, words: &[&str]) -> Ran {
    let mut command = Command::new(program());
    command.args(words).env_remove("BUY_KEY");
    // a proxy of whoever runs the tests would stand between the program and a seller on loopback
    command.env("NO_PROXY", "*").stdin(Stdio::null());
    if let Some(key) = key {
        command.env("BUY_KEY", key);
    }
    let output = command.output().await.unwrap();
    let ran = Ran {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    for secret in [Some(KEY), key].into_iter().flatten() {
        let digits = secret.strip_prefix("0x").unwrap_or(secret);
        let told = ran.stdout.contains(digits) || ran.stderr.contains(digits);
        assert!(digits.is_empty() || !told, "the key is printed");
    }
    ran
}

/// Returns the built example, and builds it first where it is absent or older than its sources.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let name = format!("buy{}", std::env::consts::EXE_SUFFIX);
        let program = profile.join("examples").join(name);
        if !is_fresh(&program) {
            build(profile);
        }
        program
    })
}

/// Whether the program is newer than each file that the compiler read for it, by the list that
/// cargo leaves beside it.
fn is_fresh(program: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let (Some(built), Ok(list)) = (
        changed(program),
        fs::read_to_string(program.with_extension("d")),
    ) else {
        return false;
    };
    let (_, sources) = list.split_once(": ").unwrap_or_default();
    let mut sources = sources.split_whitespace().map(Path::new);
    // a path with a space falls apart here, is not found, and has the program built again
    sources.all(|source| changed(source).is_some_and(|at: SystemTime| at <= built))
}

fn build(profile: &Path) {
    let name = match profile.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let status = std::process::Command::new(env!("CARGO"))
        .args(["build", "--example", "buy", "-p", "paywait-examples"])
        .args(["--profile", name, "--target-dir"])
        .arg(profile.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(status.success(), "the example `buy` does not build");
}
