//! Proves that the models bite: breaks the library in one place at a time, in a copy of the tree, and sees the named
//! model or test fail.
//!
//! `scripts/mutants` runs all of them and rewrites the dated record; `scripts/mutants --changed` those of the files that
//! differ from the record's, and ten more in turn; `scripts/mutants NAME…` those of that name.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

mod table;
use table::{By, MUTANTS, Mutant};

/// A mutant that livelocks is dead when this is over.
const LONGEST: Duration = Duration::from_secs(120);

/// How many mutants of unchanged files a run with `--changed` tries.
const IN_TURN: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mutants: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<bool, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no parent folder")?.to_path_buf();
    let path = root.join("loom-tests/mutants.txt");
    let record = Record::read(&path);
    let files = hashes(&root)?;
    let chosen: Vec<&Mutant> = match arguments {
        [] => MUTANTS.iter().collect(),
        [changed] if changed == "--changed" => record.changed(&files),
        names => {
            let unknown = names.iter().find(|name| MUTANTS.iter().all(|mutant| mutant.name != **name));
            if let Some(name) = unknown {
                return Err(format!("there is no mutant `{name}`"));
            }
            MUTANTS.iter().filter(|mutant| names.iter().any(|name| name == mutant.name)).collect()
        }
    };
    let texts: Result<Vec<String>, String> = MUTANTS.iter().map(|mutant| read(&root.join(mutant.file))).collect();
    let unfit = MUTANTS.iter().zip(texts?).filter_map(|(mutant, text)| mutant.apply(&text).err());
    let unfit: Vec<String> = unfit.collect();
    if !unfit.is_empty() {
        return Err(unfit.join("\nmutants: "));
    }
    let tree = Tree::copy(&root)?;
    // A tree that fails by itself would make every mutant look dead.
    tree.check_unbroken(&chosen)?;
    let mut survivors = Vec::new();
    for (number, mutant) in chosen.iter().enumerate() {
        print!("[{}/{}] {}: ", number + 1, chosen.len(), mutant.name);
        io::stdout().flush().map_err(|error| error.to_string())?;
        let start = Instant::now();
        let survived = tree.survived(mutant)?;
        let killed = survived.is_empty();
        let verdict = match (killed, mutant.blind) {
            (true, None) => "killed".to_owned(),
            (true, Some(_)) => "killed, but listed as blind".to_owned(),
            (false, Some(_)) => "survives, as listed".to_owned(),
            (false, None) => format!("SURVIVES {survived:?}"),
        };
        println!("{verdict} ({} s)", start.elapsed().as_secs());
        if killed == mutant.blind.is_some() {
            survivors.push(mutant.name);
        }
    }
    let blind = MUTANTS.iter().filter(|mutant| mutant.blind.is_some()).count();
    println!("{} mutants, {} not as listed; {blind} listed as blind", chosen.len(), survivors.len());
    if arguments.is_empty() && survivors.is_empty() {
        Record::write(&path, &files)?;
    }
    Ok(survivors.is_empty())
}

impl Mutant {
    /// The text of its file with the fault in it; an error if the table no longer fits the code.
    fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(self.find).count() {
            1 => Ok(text.replacen(self.find, self.replace, 1)),
            count => Err(format!("`{}`: its text stands {count} times in {}, not once", self.name, self.file)),
        }
    }
}

/// A copy of the tree, out of reach of the models' cargo configuration, always in the same place, so that cargo builds only what a mutant changes. It shares the build
/// folders of the original, and with them all dependencies.
struct Tree {
    source: PathBuf,
    copy: PathBuf,
}

impl Tree {
    fn copy(root: &Path) -> Result<Tree, String> {
        let copy = root.join("target/mutants");
        for folder in ["src", "tests", "benches", "examples", "loom-tests/src", "loom-tests/tests", "loom-tests/.cargo"]
        {
            copy_folder(&root.join(folder), &copy.join(folder))?;
        }
        for file in ["README.md", "Cargo.lock", "loom-tests/Cargo.toml", "loom-tests/Cargo.lock"] {
            copy_file(&root.join(file), &copy.join(file))?;
        }
        // The copy has no tool.
        let manifest = read(&root.join("Cargo.toml"))?.replace(", \"cli\"]", "]");
        write_if_changed(&copy.join("Cargo.toml"), &manifest)?;
        Ok(Tree { source: root.to_path_buf(), copy })
    }

    /// Builds and runs what is to kill these mutants, without a mutant.
    fn check_unbroken(&self, chosen: &[&Mutant]) -> Result<(), String> {
        let mut done: Vec<By> = Vec::new();
        for &by in chosen.iter().flat_map(|mutant| mutant.by) {
            if !done.contains(&by) {
                done.push(by);
                if self.fails(by)? {
                    return Err(format!("{by:?} fails without any mutant"));
                }
            }
        }
        Ok(())
    }

    /// Those of a mutant's models and tests that do not fail.
    fn survived(&self, mutant: &Mutant) -> Result<Vec<By>, String> {
        let text = read(&self.source.join(mutant.file))?;
        let file = self.copy.join(mutant.file);
        write_if_changed(&file, &mutant.apply(&text)?)?;
        let results: Result<Vec<(By, bool)>, String> =
            mutant.by.iter().map(|&by| self.fails(by).map(|fails| (by, fails))).collect();
        write_if_changed(&file, &text)?;
        let results = results.map_err(|error| format!("`{}`: {error}", mutant.name))?;
        Ok(results.into_iter().filter(|(_, fails)| !fails).map(|(by, _)| by).collect())
    }

    /// Whether a model or test fails, or does not end.
    fn fails(&self, by: By) -> Result<bool, String> {
        let (By::Model(_, name) | By::Test(_, name) | By::Unit(name)) = by;
        let mut command = Command::new(self.build(by)?);
        command.args(["--exact", name, "--test-threads", "1"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            if start.elapsed() > LONGEST {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        // A name that fits no test passes.
        let mut printed = String::new();
        child
            .stdout
            .take()
            .map_or(Ok(0), |mut stdout| stdout.read_to_string(&mut printed))
            .map_err(|e| e.to_string())?;
        if printed.contains("running 1 test") { Ok(!status.success()) } else { Err(format!("there is no {by:?}")) }
    }

    /// Builds the file of a model or test; the path of what came out.
    fn build(&self, by: By) -> Result<String, String> {
        let output = self.cargo(by).output().map_err(|error| error.to_string())?;
        let messages = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(format!("{by:?} does not compile:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let tests = messages.lines().filter(|line| line.contains("\"test\":true},\"features\""));
        let mut paths = tests.filter_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'));
        paths.next_back().map(|(path, _)| path.to_owned()).ok_or_else(|| format!("{by:?} has no executable"))
    }

    fn cargo(&self, by: By) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
        let (folder, target) = match by {
            By::Model(..) => (self.copy.join("loom-tests"), "loom-tests/target"),
            By::Test(..) | By::Unit(_) => (self.copy.clone(), "target"),
        };
        command.current_dir(folder).args(["test", "--offline", "--no-run", "--message-format=json"]);
        match by {
            By::Model(file, _) | By::Test(file, _) => command.args(["--test", file]),
            By::Unit(_) => command.arg("--lib"),
        };
        command.arg("--target-dir").arg(self.source.join(target));
        command
    }
}

/// On which text of their files all mutants were last tried.
struct Record {
    files: BTreeMap<String, String>,
}

impl Record {
    fn read(path: &Path) -> Record {
        let text = fs::read_to_string(path).unwrap_or_default();
        let files = text
            .lines()
            .filter_map(|line| line.split_once("  "))
            .map(|(hash, file)| (file.to_owned(), hash.to_owned()))
            .collect();
        Record { files }
    }

    fn write(path: &Path, files: &BTreeMap<String, String>) -> Result<(), String> {
        let mut text = format!(
            "All {} mutants tried on {}; {} listed as blind, the others killed. What they break, and what kills them:\n",
            MUTANTS.len(),
            env::var("MUTANTS_DATE").map_err(|_| "MUTANTS_DATE is not set: run scripts/mutants")?,
            MUTANTS.iter().filter(|mutant| mutant.blind.is_some()).count(),
        );
        for (file, hash) in files {
            text.push_str(&format!("{hash}  {file}\n"));
        }
        fs::write(path, text).map_err(|error| error.to_string())
    }

    /// The mutants of the files that differ from the record's, and a few others, different ones each day.
    fn changed(&self, files: &BTreeMap<String, String>) -> Vec<&'static Mutant> {
        let same = |name: &str| self.files.get(name) == files.get(name);
        let killers_differ = files.keys().any(|name| !name.ends_with(".rs") && !same(name));
        let differs = |mutant: &Mutant| killers_differ || !same(mutant.file);
        let unchanged: Vec<&Mutant> = MUTANTS.iter().filter(|mutant| !differs(mutant)).collect();
        let days = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400);
        let start = usize::try_from(days).unwrap_or(0) * IN_TURN;
        let in_turn = (0..unchanged.len().min(IN_TURN)).map(|nth| unchanged[(start + nth) % unchanged.len()].name);
        let in_turn: Vec<&str> = in_turn.collect();
        MUTANTS.iter().filter(|mutant| differs(mutant) || in_turn.contains(&mutant.name)).collect()
    }
}

fn hashes(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut hashes = BTreeMap::new();
    for mutant in MUTANTS {
        hashes.insert(mutant.file.to_owned(), format!("{:016x}", fnv1a(&read(&root.join(mutant.file))?)));
    }
    // What must kill them.
    for folder in ["loom-tests/src", "loom-tests/tests", "loom-tests/examples/mutants", "tests"] {
        let mut text = String::new();
        gather(&root.join(folder), &mut text)?;
        hashes.insert(folder.to_owned(), format!("{:016x}", fnv1a(&text)));
    }
    Ok(hashes)
}

/// The text of all files below a folder, in the order of their names.
fn gather(folder: &Path, text: &mut String) -> Result<(), String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        paths.push(entry.map_err(|error| error.to_string())?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() { gather(&path, text)? } else { text.push_str(&read(&path)?) }
    }
    Ok(())
}

/// The standard library's hashes differ from release to release.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        // What cargo builds there is none of the tree.
        if from.is_dir() && entry.file_name() != "target" {
            copy_folder(&from, &to)?;
        } else if from.is_file() {
            copy_file(&from, &to)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    write_if_changed(to, &read(from)?)
}

/// Leaves the time of an unchanged file alone, so that cargo does not build it again.
fn write_if_changed(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    let folder = path.parent().ok_or("a file without a folder")?;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
