/**
 * Preloaded into every server this package starts. Its standard input is a pipe from the process
 * that started it; when that one is gone, however it went, the pipe ends and the server drains as
 * on SIGTERM, so that none is left behind holding a port. Watching keeps no process alive.
 *
 * What the start of a server runs only once is not worth compiling, so it is interpreted, until the
 * server is ready.
 */
Bun.unsafe.setJITPolicy(10);
process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
process.stdin.resume();
process.stdin.unref();
