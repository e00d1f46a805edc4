import { expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptFile } from "../workspace/own-files/kept-file.ts";
import { readSecret, type SecretSource } from "./secret-source.ts";
import { createSecrets, type NamedSecret } from "./secrets.ts";
import { oneTimeCode } from "./totp.ts";

const signal = AbortSignal.timeout(30_000);
const bank = "https://bank.example";

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
  for (const seed of ["not base32!", "AAAA", "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ", `${eight(base32)}&period=0`])
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
  await expect(read("head -c 200000 /dev/zero | tr '\\0' x")).rejects.toMatchObject({ code: "unavailable" });
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
  ];
  for (const disguise of disguises) {
    expect(secrets.redact(`before ${disguise} after`)).toMatch(/^before "?\[secret bank-password\]=*"? after$/);
    expect(secrets.heldIn(disguise)).toBe("bank-password");
    expect(secrets.heldIn(disguise, bank)).toBeUndefined();
    expect(secrets.heldIn(disguise, "https://evil.example")).toBe("bank-password");
  }
  expect(secrets.redact("Tr0ub4 and dor")).toBe("Tr0ub4 and dor");
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
    await locked.recollect(signal);
    expect(locked.hasTyped()).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a code that would not count for long enough is the next one", async () => {
  process.env.MANYHANDS_TEST_SECRET = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=4";
  const totp = secret({ env: "MANYHANDS_TEST_SECRET" }, { kind: "totp" });
  const periodAt = () => Math.floor(Date.now() / 4_000);
  await Bun.sleep(4_000 - (Date.now() % 4_000));
  const asked = periodAt();
  await createSecrets([totp]).reveal(totp, signal, 15);
  delete process.env.MANYHANDS_TEST_SECRET;
  expect(periodAt()).toBeGreaterThan(asked);
}, 20_000);

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
