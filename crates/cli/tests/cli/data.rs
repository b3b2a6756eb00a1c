//! `byz data`: where, verify, and fetch from a server of our own.

use crate::support::{Files, command, names, run};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// `byz data …` with nothing of the machine's own configuration.
fn data(arguments: &[&str], environment: &[(&str, &Path)]) -> crate::support::Ran {
    let mut command = command();
    for variable in [
        "BYZ_DATA",
        "XDG_CACHE_HOME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied()).arg("data").args(arguments);
    run(command)
}

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    path.is_dir().then_some(path)
}

/// Serves files below a root; gives its address and the number of requests so far.
fn serve(root: PathBuf) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines: Vec<String> = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            counter.fetch_add(1, Ordering::SeqCst);
            let path = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or("/").to_string();
            let (status, body) = match std::fs::read(root.join(path.trim_start_matches('/'))) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that has read enough hangs up.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    (address, requests)
}

#[test]
fn says_where_the_data_is() {
    let here = Path::new("/a/b");
    assert_eq!(data(&["where", "--data-dir", "x"], &[("BYZ_DATA", here)]).expect(0).out, "x\n");
    assert_eq!(data(&["where"], &[("BYZ_DATA", here)]).expect(0).out, "/a/b\n");
    assert_eq!(data(&["where"], &[("XDG_CACHE_HOME", here)]).expect(0).out, "/a/b/byz\n");
    assert_eq!(data(&["where"], &[("HOME", here)]).expect(0).out, "/a/b/.cache/byz\n");
}

#[test]
fn verify_finds_what_is_missing_and_corrupt() {
    let files = Files::new();
    files.write("t10k-labels-idx1-ubyte", b"lies");
    let ran = data(&["verify"], &[("BYZ_DATA", files.0.path())]).expect(1).says("byz data fetch");
    assert_eq!(ran.out.lines().count(), 6);
    assert_eq!(ran.out.matches("  missing\n").count(), 4, "{}", ran.out);
    assert!(ran.out.contains("4 bytes instead of 10008"), "{}", ran.out);
}

#[test]
fn the_shared_data_is_right() {
    let Some(shared) = shared() else { return };
    let ran = data(&["verify"], &[("BYZ_DATA", &shared)]).expect(0);
    assert_eq!(ran.out.matches("  ok\n").count(), 5, "{}", ran.out);
    let ran = data(&["fetch", "--mirror", "http://127.0.0.1:1"], &[("BYZ_DATA", &shared)]).expect(0);
    assert_eq!(ran.out.matches("already there").count(), 5, "{}", ran.out);
}

#[test]
fn fetch_repairs_and_does_nothing_the_second_time() {
    let Some(shared) = shared() else { return };
    let (address, requests) = serve(shared);
    let files = Files::new();
    let directory = files.path("new folder");
    std::fs::create_dir_all(directory.join("mnist")).unwrap();
    std::fs::write(directory.join("mnist/t10k-labels-idx1-ubyte.gz"), b"lies").unwrap();
    let fetch = ["fetch", "--mirror", &address, "--data-dir", directory.to_str().unwrap()];
    data(&fetch, &[]).expect(0);
    assert_eq!(requests.load(Ordering::SeqCst), 5);
    data(&["verify"], &[("BYZ_DATA", &directory)]).expect(0);
    assert_eq!(names(&directory.join("mnist")).len(), 4);
    data(&fetch, &[]).expect(0);
    assert_eq!(requests.load(Ordering::SeqCst), 5);
}

#[test]
fn a_lying_mirror_leaves_nothing_behind() {
    let files = Files::new();
    std::fs::create_dir_all(files.path("www/mnist")).unwrap();
    files.write("www/mnist/train-labels-idx1-ubyte.gz", b"not the labels");
    files.write("www/mnist/t10k-labels-idx1-ubyte.gz", &vec![0; 1 << 20]);
    let (address, _) = serve(files.path("www"));
    let directory = files.path("data");
    let ran =
        data(&["fetch", "--mirror", &address, "--data-dir", directory.to_str().unwrap()], &[]).expect(1);
    let ran = ran.says("14 bytes instead of 60008").says("404").says("5 of 5 files could not be fetched");
    ran.says("t10k-labels-idx1-ubyte.gz: ");
    assert!(!directory.exists());
}

#[test]
fn without_a_network_it_says_what_to_put_where() {
    // Nothing listens on a port that was just given back.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let files = Files::new();
    let address = format!("http://127.0.0.1:{port}");
    let ran =
        data(&["fetch", "--mirror", &address, "--data-dir", files.0.path().to_str().unwrap()], &[]).expect(1);
    let place = files.path("mnist/train-images-idx3-ubyte.gz");
    let ran = ran.says(&format!("{address}/mnist/train-images-idx3-ubyte.gz\n"));
    ran.says(&format!("-> {}\n", place.display())).says("not asked again").says("byz data verify");
}
