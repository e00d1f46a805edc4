import { expect, test } from "bun:test";
import { secretConfig } from "../secrets/secret-config.ts";
import { sectionsSchema } from "../sections/sections.ts";
import type { Settings } from "../settings/settings.ts";
import { bucketConfig } from "./bucket-config.ts";
import { databaseConfig } from "./database-config.ts";
import { hasMemory } from "./memory-config.ts";

const databases = (tables: object) => databaseConfig(sectionsSchema.parse({ databases: tables }).databases, "/home/us");

test("a database is read only, for half a minute and ten thousand rows, unless its table says otherwise", () => {
  const sales = { url: "postgres://ann@db.example/sales" };
  const both = { url: "postgres://ann:old@db.example/sales", password: "new" };
  expect(databases({ both }).both?.url).toBe("postgres://ann:new@db.example/sales");
  const full = { ...sales, password: "p:@/ w", description: "Sales.", read_only: false, timeout: 1.5, rows: 7 };
  expect(databases({ sales, full })).toEqual({
    sales: { url: sales.url, description: undefined, readOnly: true, timeoutMs: 30_000, rows: 10_000 },
    full: {
      url: "postgres://ann:p%3A%40%2F%20w@db.example/sales",
      ...{ description: "Sales.", readOnly: false, timeoutMs: 1_500, rows: 7 },
    },
  });
});

test.each([
  ["sqlite:sales.db", "sqlite:/home/us/sales.db"],
  ["sqlite:/var/sales.db", "sqlite:/var/sales.db"],
  ["sqlite:my%20sales.db", "sqlite:/home/us/my%20sales.db"],
])("the file of %s is %s", (url, whole) => {
  expect(databases({ d: { url, password: "not for files" } }).d?.url).toBe(whole);
});

test.each([
  ["mysql://h/d", true],
  ["mariadb://h/d", true],
  ["http://h/d", false],
  ["sqlite:100%.db", false],
  ["mysql://u:100%@h/d", true],
  ["toString://h/d", false],
  ["no URL", false],
])("%s is a database's address: %p", (url, fits) => {
  expect(sectionsSchema.safeParse({ databases: { d: { url } } }).success).toBe(fits);
});

const settingsOf = (sections: object): Settings => ({
  sections: sectionsSchema.parse(sections),
  origins: new Map(),
  file: "manyhands.toml",
  agent: undefined,
});
const secrets = (tables: object) => secretConfig(settingsOf({ secrets: tables }), "/home/us");
const sites = ["https://shop.example"];

test("a secret is a password of the operator's, for which nobody is asked, unless its table says otherwise", () => {
  const full = { sites, kind: "totp", principals: ["ann", "*"], ask: true, op: "op://v/i/f" };
  expect(secrets({ shop: { sites, env: "SHOP" }, full })).toEqual([
    { name: "shop", kind: "password", sites, principals: ["local"], ask: false, source: { env: "SHOP" } },
    { name: "full", kind: "totp", sites, principals: ["ann", "*"], ask: true, source: { op: "op://v/i/f" } },
  ]);
});

test("a secret's value comes from one place: a file from the folder of the settings, a program with its arguments", () => {
  const sources = { env: "X", file: "x.txt", command: ["pass", "show", "x"], op: "op://v/i/f" };
  const found = { env: { env: "X" }, file: { file: "/home/us/x.txt" }, op: { op: "op://v/i/f" } };
  for (const [name, source] of Object.entries({ ...found, command: { command: ["pass", "show", "x"] } }))
    expect(secrets({ s: { sites, [name]: sources[name as keyof typeof sources] } })[0]?.source).toEqual(
      source as never,
    );
  expect(() => secrets({ s: { sites } })).toThrow("[secrets.s] needs one of env, file, command and op; it has none.");
  for (const name of ["file", "command", "op"] as const)
    expect(() => secrets({ s: { sites, env: "X", [name]: sources[name] } })).toThrow("it has several.");
});

test.each<[object, boolean]>([
  [{ sites: [] }, false],
  [{ sites: ["https://shop.example/login"] }, false],
  [{ sites: ["https://shop.example:8443", "http://127.0.0.1"] }, true],
  [{ sites, principals: [] }, false],
  [{ sites, op: "op://v" }, false],
  [{ sites, command: [] }, false],
])("a secret's table may be %j: %p", (table, fits) => {
  expect(sectionsSchema.safeParse({ secrets: { s: table } }).success).toBe(fits);
});

test("who has a memory is named, or everybody has", () => {
  expect([hasMemory({ principals: [] }, "local"), hasMemory({ principals: ["ann"] }, "ann")]).toEqual([false, true]);
  expect([hasMemory({ principals: ["ann"] }, "bob"), hasMemory({ principals: ["*"] }, "bob")]).toEqual([false, true]);
});

const bucket = { bucket: "b", endpoint: "https://s3.example", access_key_id: "id", secret_access_key: "key" };
const bucketOf = (artifacts: object) => bucketConfig(settingsOf({ artifacts }));

test("a bucket is whole or refused by what it lacks, and without one nothing is kept elsewhere", () => {
  expect(bucketOf(bucket)).toEqual({
    ...{ bucket: "b", endpoint: "https://s3.example", accessKeyId: "id", secretAccessKey: "key" },
    ...{ prefix: "manyhands", workspaceBytes: 2 ** 30, virtualHosted: false },
  });
  for (const key of ["endpoint", "access_key_id", "secret_access_key"])
    expect(() => bucketOf({ ...bucket, [key]: undefined })).toThrow(
      `artifacts.bucket is set, but artifacts.${key} is not`,
    );
  expect(bucketOf({ ...bucket, bucket: undefined })).toBeUndefined();
});
