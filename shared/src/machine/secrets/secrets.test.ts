import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sleeping from "../../core/async/sleep.ts";
import { isThere } from "../kernel/process-table.ts";
import { keptFile } from "../workspace/own-files/kept-file.ts";
import { readSecret, type SecretSource } from "./secret-source.ts";
import { createSecrets, type NamedSecret } from "./secrets.ts";
import { oneTimeCode } from "./totp.ts";
import { patternOf } from "./value-pattern.ts";

const signal = AbortSignal.timeout(30_000);
const bank = "https://bank.example";

/** Its value is in a variable while the test runs. */
function inVariable(value: string, rest: Partial<NamedSecret> = {}): NamedSecret {
  const name = `MANYHANDS_TEST_${rest.name ?? "SECRET"}`;
  process.env[name] = value;
  variables.push(name);
  return secret({ env: name }, rest);
}
const variables: string[] = [];
afterEach(() => {
  mock.restore();
  for (const name of variables.splice(0)) delete process.env[name];
});

async function until(check: () => boolean): Promise<void> {
  for (const end = performance.now() + 15_000; !check(); await Bun.sleep(5))
    if (performance.now() > end) throw new Error("It did not happen in time");
}

const secret = (source: SecretSource, rest: Partial<NamedSecret> = {}): NamedSecret => ({
  ...{ name: "bank-password", kind: "password", sites: [bank], source, principals: ["local"], ask: false },
  ...rest,
});

test("one-time codes are those of RFC 6238, from base32 and from an otpauth address", () => {
  const base32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const long = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA";
  const eight = (seed: string, algorithm = "SHA1") =>
    `otpauth://totp/Shop:ada?secret=${seed}&digits=8&algorithm=${algorithm}`;
  expect(oneTimeCode(eight(base32), 59_000)).toEqual({ code: "94287082", seconds: 1 });
  expect(oneTimeCode(eight(base32), 1_111_111_109_000).code).toBe("07081804");
  expect(oneTimeCode(eight(base32), 20_000_000_000_000).code).toBe("65353130");
  expect(oneTimeCode(eight(long, "SHA256"), 59_000).code).toBe("46119246");
  expect(oneTimeCode("gezd gnbv gy3t qojq gezd gnbv gy3t qojq", 59_000)).toEqual({ code: "287082", seconds: 1 });
  const address = (more: string) => `otpauth://totp/x?secret=${base32}${more}`;
  expect(oneTimeCode(address("&algorithm=sha-256"), 0).code).not.toBe(oneTimeCode(base32, 0).code);
  expect(oneTimeCode(address("&algorithm=SHA512"), 0).code).toBe(oneTimeCode(address("&algorithm=sha-512"), 0).code);
  expect(oneTimeCode(address(""), 59_000).code).toBe("287082");
  expect(oneTimeCode(address("&digits=7"), 59_000).code).toBe("4287082");
  expect(oneTimeCode(address("&period=60"), 59_000)).toEqual({ code: oneTimeCode(base32, 0).code, seconds: 1 });
  expect(oneTimeCode(address("&period=3600"), 0).seconds).toBe(3_600);
  expect(oneTimeCode(` ${base32}======\n`, 59_000).code).toBe("287082");
  expect(oneTimeCode("GEZDGNBV", 0).code).toHaveLength(6);
  for (const seed of [
    "not base32!",
    "AAAA",
    "GEZDGNB",
    "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ",
    address("&period=0"),
    address("&period=3601"),
    address("&period=1.5"),
    address("&digits=5"),
    address("&digits=9"),
    address("&algorithm=md5"),
  ])
    expect(() => oneTimeCode(seed, 0)).toThrow(expect.objectContaining({ code: "config_invalid" }));
});

test("a value is read from a variable, a file, a command and 1Password's program, and no failure quotes it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-secrets-"));
  try {
    const file = join(folder, "value");
    await writeFile(file, "from a file\n");
    const op = join(folder, "op");
    await writeFile(
      op,
      `#!/bin/sh\n[ "$1 $2 $3" = "read --no-newline op://Work/Bank/password" ] && printf 'from op'\n`,
    );
    await chmod(op, 0o755);
    process.env.MANYHANDS_TEST_SECRET = "from a variable";
    process.env.PATH = `${folder}:${process.env.PATH}`;
    const read = (source: SecretSource) => readSecret("s", source, signal);
    expect(await read({ env: "MANYHANDS_TEST_SECRET" })).toBe("from a variable");
    expect(await read({ file })).toBe("from a file");
    expect(await read({ command: ["printf", "%s\\n", "from a command"] })).toBe("from a command");
    expect(await read({ op: "op://Work/Bank/password" })).toBe("from op");
    await expect(read({ op: "op://Work/Bank/other" })).rejects.toMatchObject({ code: "unavailable" });
    await expect(read({ command: ["sh", "-c", "echo hunter2 >&2; echo hunter2; exit 3"] })).rejects.toMatchObject({
      message: expect.not.stringContaining("hunter2"),
    });
    await expect(read({ env: "MANYHANDS_TEST_NONE" })).rejects.toMatchObject({ code: "config_invalid" });
    await expect(read({ file: join(folder, "none") })).rejects.toMatchObject({ code: "config_invalid" });
    await expect(read({ command: ["no-such-program-here"] })).rejects.toMatchObject({ code: "config_invalid" });
  } finally {
    delete process.env.MANYHANDS_TEST_SECRET;
    process.env.PATH = process.env.PATH?.replace(`${folder}:`, "");
    await rm(folder, { recursive: true });
  }
});

test("of a value one line end is left out, and one that is empty, too long or not asked for any more is none", async () => {
  const read = (script: string, until = signal) => readSecret("s", { command: ["sh", "-c", script] }, until);
  expect(await read("printf ' a\\n\\r\\n'")).toBe(" a\n");
  // A program that asks at a terminal finds none.
  expect(await read("cat; printf b")).toBe("b");
  expect(await read("head -c 65000 /dev/zero | tr '\\0' x")).toHaveLength(65_000);
  for (const script of ["true", "echo"])
    await expect(read(script)).rejects.toMatchObject({ code: "config_invalid", message: "The secret s is empty." });
  for (const bytes of [65_537, 200_000])
    await expect(read(`head -c ${bytes} /dev/zero | tr '\\0' x`)).rejects.toMatchObject({
      code: "unavailable",
      message: "The secret s could not be read: sh printed more than 64 kB.",
    });
  await expect(read("sleep 60", AbortSignal.timeout(20))).rejects.toMatchObject({ name: "TimeoutError" });
});

test("a secret is for its principals at its origins, and a look-alike is not one of them", () => {
  const secrets = createSecrets([
    secret({ env: "A" }),
    secret({ env: "B" }, { name: "all", principals: ["*"] }),
    secret({ env: "C" }, { name: "anns", principals: ["ann"] }),
  ]);
  const names = (principal: string, origin = bank) => secrets.at(principal, origin).map(({ name }) => name);
  expect(names("local")).toEqual(["bank-password", "all"]);
  expect(names("ann")).toEqual(["all", "anns"]);
  for (const other of ["http://bank.example", "https://bank.example.evil.example", "https://bank.example:8443", "null"])
    expect(names("local", other)).toEqual([]);
});

test("a value that was read is replaced in texts, also spaced out, backwards and encoded", async () => {
  process.env.MANYHANDS_TEST_SECRET = 'Tr0ub4dor&3"';
  const secrets = createSecrets([secret({ env: "MANYHANDS_TEST_SECRET" })]);
  expect(secrets.redact('It is Tr0ub4dor&3".')).toContain("Tr0ub4dor");
  await secrets.reveal(secrets.at("local", bank)[0] as NamedSecret, signal);
  delete process.env.MANYHANDS_TEST_SECRET;
  const value = 'Tr0ub4dor&3"';
  const disguises = [
    value,
    value.toLowerCase(),
    [...value].join(" "),
    [...value].join("\u200b"),
    [...value].join("-"),
    [...value].toReversed().join(""),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("hex"),
    encodeURIComponent(value),
    JSON.stringify(value),
    value.replace("&", "&amp;").replace('"', "&quot;"),
    value.replace("&", "&#38;").replace('"', "&#34;"),
    [...value].join(" . "),
    [...value].join("\u0301"),
    [...value].toReversed().join("_"),
  ];
  for (const disguise of disguises) {
    expect(secrets.redact(`before ${disguise} after`)).toMatch(/^before "?\[secret bank-password\]=*"? after$/);
    expect(secrets.heldIn(disguise)).toBe("bank-password");
    expect(secrets.heldIn(disguise, bank)).toBeUndefined();
    expect(secrets.heldIn(disguise, "https://evil.example")).toBe("bank-password");
  }
  expect(secrets.redact("Tr0ub4 and dor")).toBe("Tr0ub4 and dor");
  expect(secrets.redact([...value].join("    "))).toContain("T");
  expect(secrets.redact(`${value} ${value}`)).toBe("[secret bank-password] [secret bank-password]");
});

test.each([
  ["a.b+c/d e", encodeURIComponent("a.b+c/d e"), "aXb+c/d e"],
  ["a b?c", new URLSearchParams({ v: "a b?c" }).toString().slice(2), "a bbc"],
  ["ÿ?>ÿ?>", Buffer.from("ÿ?>ÿ?>").toString("base64url"), "ÿ?ÿ?>"],
  ["(1)[2]", encodeURIComponent("(1)[2]"), "12"],
])("of %j the disguise %j is found, and %j is another text", (value, disguise, other) => {
  const found = (text: string) => patternOf(value).test(text);
  expect(found(value)).toBe(true);
  expect(found(disguise)).toBe(true);
  expect(found(other)).toBe(false);
});

test("after a restart a program's value is hidden again if it was ever typed, and asked for only then", async () => {
  const folder = await mkdtemp(join(tmpdir(), "secrets-"));
  try {
    const program = join(folder, "vault");
    await writeFile(program, `#!/bin/sh\necho "$1" >>${folder}/asked\necho "value-of-$1"\n`);
    await chmod(program, 0o700);
    const all = [
      secret({ command: [program, "typed"] }, { name: "typed" }),
      secret({ command: [program, "never"] }, { name: "never" }),
    ];
    const start = () => createSecrets(all, keptFile(join(folder, "typed-secrets")));
    const before = start();
    await before.recollect(signal);
    expect(before.hasTyped()).toBe(false);
    await before.reveal(all[0] as NamedSecret, signal);
    const after = start();
    await after.recollect(signal);
    expect(after.redact("It is value-of-typed.")).toBe("It is [secret typed].");
    expect(await Bun.file(join(folder, "asked")).text()).toBe("typed\ntyped\n");
    expect(await Bun.file(join(folder, "typed-secrets")).text()).toBe("typed");
    await rm(program);
    const locked = start();
    expect(await locked.recollect(signal)).toEqual([
      expect.stringContaining("The secret typed is read by the program"),
    ]);
    expect(locked.hasTyped()).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a code that would not count for long enough is the next one, and only the code is hidden afterwards", async () => {
  const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const totp = inVariable(seed, { kind: "totp" });
  let now = 0;
  const waited: number[] = [];
  spyOn(Date, "now").mockImplementation(() => now);
  spyOn(sleeping, "sleep").mockImplementation(async (time) => {
    waited.push(time);
    now += time;
  });
  const revealed = async (at: number, leastSeconds?: number) => {
    now = at;
    return await createSecrets([totp]).reveal(totp, signal, leastSeconds);
  };
  const codeAt = (at: number) => oneTimeCode(seed, at).code;
  expect(await revealed(27_000)).toEqual({ value: codeAt(0), seconds: 3 });
  expect(await revealed(27_000, 4)).toEqual({ value: codeAt(30_000), seconds: 30 });
  expect(await revealed(28_000)).toEqual({ value: codeAt(30_000), seconds: 30 });
  expect(waited).toEqual([3_050, 2_050]);

  const secrets = createSecrets([totp]);
  now = 0;
  await secrets.reveal(totp, signal);
  expect(secrets.redact(`${codeAt(0)} of ${seed}`)).toBe(`[secret bank-password] of ${seed}`);
  // A code in place of a seed is typed as it is.
  const code = inVariable("12345678", { kind: "totp" });
  expect(await createSecrets([code]).reveal(code, signal)).toEqual({ value: "12345678" });
});

test("while it waits for the next code, an abort ends the wait", async () => {
  const totp = inVariable("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=3600", { kind: "totp" });
  const leaving = new AbortController();
  const waiting = createSecrets([totp]).reveal(totp, leaving.signal, 4_000);
  await Bun.sleep(0);
  leaving.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("values at hand are hidden from the start, but no code, none too short and none of a program", async () => {
  const values: Record<string, string> = { one: "four", two: "abc", three: "x".repeat(4_096), four: "x".repeat(4_097) };
  const all = Object.entries(values).map(([name, value]) => inVariable(value, { name }));
  const folder = await mkdtemp(join(tmpdir(), "secrets-"));
  await writeFile(join(folder, "value"), "in a file\n");
  const secrets = createSecrets(
    [
      ...all,
      secret({ file: join(folder, "value") }, { name: "file" }),
      secret({ file: join(folder, "gone") }, { name: "gone" }),
      inVariable("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", { name: "totp", kind: "totp" }),
      secret({ command: ["printf", "from a program"] }, { name: "program" }),
    ],
    // Which names were typed cannot be read.
    { ...keptFile(join(folder, "typed")), read: () => Promise.reject(new Error("no disk")) },
  );
  expect((await secrets.recollect(signal)).toSorted()).toEqual(
    [
      "The secret four must have 4 to 4096",
      "The secret gone is to be in the file",
      "The secret two must have 4 to 4096",
      "Which programs' secrets were typed",
    ].map((why) => expect.stringContaining(why)),
  );
  const held = [...Object.values(values), "in a file", "from a program", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"].map(
    (text) => secrets.heldIn(`<${text}>`),
  );
  expect(held).toEqual(["one", undefined, "three", "three", "file", undefined, undefined]);
  expect(secrets.redact("four in a file, four")).toBe("[secret one] [secret file], [secret one]");
  await rm(folder, { recursive: true });
});

test("of programs' secrets the names of all that were typed are kept, of others none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "secrets-"));
  await writeFile(join(folder, "value"), "in a file\n");
  const all = [
    secret({ command: ["echo", "value-one"] }, { name: "one" }),
    secret({ command: ["echo", "value-two"] }, { name: "two", kind: "text" }),
    secret({ command: ["echo", "123456"] }, { name: "code", kind: "totp" }),
    secret({ file: join(folder, "value") }, { name: "file" }),
    inVariable("in a variable", { name: "variable" }),
  ];
  const secrets = createSecrets(all, keptFile(join(folder, "typed")));
  for (const one of [...all, ...all]) await secrets.reveal(one, signal);
  expect(await Bun.file(join(folder, "typed")).text()).toBe("one\ntwo");
  await rm(folder, { recursive: true });
});

test("the two hundred values that were read last are hidden, however often one was", async () => {
  const secrets = createSecrets([]);
  const read = async (number: number) => {
    const value = `value-${number}-x`;
    await secrets.reveal(inVariable(value, { name: `s${number}` }), signal);
  };
  for (let number = 0; number < 200; number++) await read(number);
  const known = () => [0, 1, 2, 200].map((number) => secrets.heldIn(`value-${number}-x`));
  expect(known()).toEqual(["s0", "s1", "s2", undefined]);
  await read(0);
  await read(200);
  expect(known()).toEqual(["s0", undefined, "s2", "s200"]);
});

test("a reading that is given up ends its program", async () => {
  const folder = await mkdtemp(join(tmpdir(), "secrets-"));
  const leaving = new AbortController();
  const script = `echo $$ >${folder}/pid; mv ${folder}/pid ${folder}/begun; exec sleep 600`;
  const reading = readSecret("s", { command: ["sh", "-c", script] }, leaving.signal);
  const begun = join(folder, "begun");
  await until(() => existsSync(begun));
  leaving.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  const pid = Number(await readFile(begun, "utf8"));
  await until(() => !isThere(pid));
  await rm(folder, { recursive: true });
});

test("a seed is never typed but its code, and what is too short to be hidden is not typed", async () => {
  process.env.MANYHANDS_TEST_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const totp = secret({ env: "MANYHANDS_TEST_SECRET" }, { kind: "totp" });
  const { value, seconds = 0 } = await createSecrets([totp]).reveal(totp, signal);
  expect(value).toMatch(/^\d{6}$/);
  expect(seconds).toBeGreaterThanOrEqual(3);
  process.env.MANYHANDS_TEST_SECRET = "abc";
  const short = secret({ env: "MANYHANDS_TEST_SECRET" });
  await expect(createSecrets([short]).reveal(short, signal)).rejects.toMatchObject({ code: "config_invalid" });
  delete process.env.MANYHANDS_TEST_SECRET;
});

test("what a secret's program complains of goes nowhere, and it cannot ask", async () => {
  const spawned = spyOn(Bun, "spawn");
  expect(await readSecret("x", { command: ["sh", "-c", "echo value; echo value >&2; cat"] }, signal)).toBe("value");
  expect(spawned.mock.calls[0]?.[1]).toMatchObject({
    ...{ stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    ...{ maxBuffer: 65_536, killSignal: "SIGKILL" },
  });
});
