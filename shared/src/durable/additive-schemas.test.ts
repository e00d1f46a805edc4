import { expect, test } from "bun:test";
import { migrations as ofPostgres } from "./postgres/schema/migrate.ts";
import { migrations as ofSqlite } from "./sqlite/tables/schema.ts";

/** The statements of a migration, without comments and what is in the body of a function. */
function statementsOf(migration: string): readonly string[] {
  const plain = migration.replaceAll(/\$\$[\s\S]*?\$\$/g, "body").replaceAll(/--.*$/gm, "");
  return plain
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");
}

/** What of a migration would hinder the release before it, which knows nothing of it. */
function hindrances(migration: string): readonly string[] {
  const statements = statementsOf(migration);
  const all = statements.join(";");
  const isNew = (table: string | undefined) =>
    [`CREATE TABLE ${table} `, `CREATE VIRTUAL TABLE ${table} `].some((made) => all.includes(made));
  const isAdded = (table: string | undefined, column: string | undefined) =>
    all.includes(`ALTER TABLE ${table} ADD COLUMN ${column} `);
  return statements.filter((statement) => {
    // An index makes no difference to what a statement does; a unique one refuses some.
    if (/^DROP INDEX /.test(statement)) return false;
    if (/^CREATE (?:TABLE|VIRTUAL TABLE|INDEX|SEQUENCE|FUNCTION|OR REPLACE FUNCTION|OR REPLACE VIEW) /.test(statement))
      return false;
    if (/^ALTER TABLE \w+ ADD COLUMN /.test(statement))
      return / NOT NULL/.test(statement) && !/ DEFAULT /.test(statement);
    const [, table, column] =
      /^INSERT (?:OR IGNORE )?INTO (\w+)/.exec(statement) ??
      /^UPDATE (\w+) SET (\w+) = /.exec(statement) ??
      /^CREATE UNIQUE INDEX \w+ ON (\w+)/.exec(statement) ??
      [];
    return !isNew(table) && !isAdded(table, column);
  });
}

test.each([
  ["SQLite", ofSqlite],
  ["PostgreSQL", ofPostgres],
] as const)("every migration on %s only adds, so that the release before it works on", (_, migrations) => {
  expect(migrations.length).toBeGreaterThan(1);
  for (const migration of migrations.slice(1)) expect(hindrances(migration)).toEqual([]);
});

test.each([
  "DROP TABLE runs",
  "ALTER TABLE runs RENAME COLUMN due TO at",
  "ALTER TABLE runs ADD COLUMN body INTEGER NOT NULL",
  "UPDATE runs SET status = 'queued'",
  "DELETE FROM events",
  "CREATE UNIQUE INDEX one ON runs (kind)",
  "INSERT INTO runs (id) VALUES ('x')",
])("%s would be noticed", (statement) => {
  expect(hindrances(`CREATE TABLE other (n INTEGER); ${statement};`)).toEqual([statement]);
});

/** Of each entry, without comments and however its lines are broken. */
function fingerprints(migrations: readonly string[]): string {
  const each = migrations.map((migration) => {
    const plain = migration.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim();
    return new Bun.CryptoHasher("sha256").update(plain).digest("hex").slice(0, 12);
  });
  return each.join(" ");
}

/**
 * Stores were made with these. A store that has an entry never sees a change of it: what is to be
 * different comes as an entry of its own, whose fingerprint is added here.
 */
const known = {
  SQLite:
    "a1cb85f1c3b0 136f915d1107 a1c655596a3c 2e314efdb7b4 44a2b5008204 db2f6c846139 be0300f75c40 fc48b1bc77b4 105791a2161d 67a1237c9e8f",
  PostgreSQL: "29c41b514630 097618cac7b7 f706c5cbfc4e 1bb88911a847 9492087b0410 c7006b242cda 9078d8ecff11 d9ac94d0979b",
};

test("no migration changes that stores were made with", () => {
  expect({ SQLite: fingerprints(ofSqlite), PostgreSQL: fingerprints(ofPostgres) }).toEqual(known);
});
