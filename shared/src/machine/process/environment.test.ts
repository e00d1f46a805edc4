import { expect, test } from "bun:test";
import { carried, sandboxEnvironment, sandboxPath, unpacked } from "./environment.ts";

test("the environment has the base variables and the named ones, and nothing of the server's", () => {
  const kept = { ...process.env };
  Object.assign(process.env, { OPENAI_API_KEY: "canary", HTTP_PROXY: "canary", LD_PRELOAD: "", HOME: "/canary" });
  try {
    const environment = sandboxEnvironment("/ws", "/ws/.tmp", { NAMED: "yes", TERM: "xterm" });
    expect(Object.keys(environment).sort()).toEqual(
      [
        "ASAN_OPTIONS",
        "GIT_CONFIG_NOSYSTEM",
        "HOME",
        "LANG",
        "LSAN_OPTIONS",
        "NAMED",
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "SHLVL",
        "TERM",
        "TMPDIR",
      ].sort(),
    );
    expect(environment).toMatchObject({ HOME: "/ws", TMPDIR: "/ws/.tmp", NAMED: "yes", TERM: "xterm" });
    expect(JSON.stringify(environment)).not.toContain("canary");
  } finally {
    for (const name of ["OPENAI_API_KEY", "HTTP_PROXY", "LD_PRELOAD", "HOME"])
      if (kept[name] === undefined) delete process.env[name];
      else process.env[name] = kept[name];
  }
});

test("programs are found in the system's folders, run no start-up files and leave no compiled files", () => {
  expect(sandboxEnvironment("/ws", "/tmp")).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    HOME: "/ws",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    TERM: "dumb",
    PYTHONDONTWRITEBYTECODE: "1",
    GIT_CONFIG_NOSYSTEM: "1",
    ASAN_OPTIONS: "detect_leaks=0:print_legend=0",
    LSAN_OPTIONS: "detect_leaks=0",
    SHLVL: "1",
  });
});

test("the Python of a virtual environment is found before the system's, which keeps its folders", () => {
  const { PATH, VIRTUAL_ENV } = sandboxEnvironment("/ws", "/tmp", {}, "/environments/one");
  expect([PATH, VIRTUAL_ENV]).toEqual([`/environments/one/bin:${sandboxPath}`, "/environments/one"]);
});

test("what is carried arrives unchanged, under no name that acts on the way, and nothing else does", () => {
  const env = { HOME: "/ws", NODE_OPTIONS: "--require /ws/x.js", EMPTY: "" };
  const onTheWay = carried(env);
  expect(Object.keys(onTheWay).filter((name) => name in env)).toEqual([]);
  expect(
    unpacked({ ...onTheWay, LD_PRELOAD: "/x.so", NOT_CARRIED_X: "x", PATH: undefined, CARRIED_GONE: undefined }),
  ).toEqual(env);
});
