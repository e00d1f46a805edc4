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
