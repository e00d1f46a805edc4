/** A database that the settings name. */
export type DatabaseServer = {
  /** `postgres:`, `mysql:` or, with an absolute path, `sqlite:`; with user and password. */
  readonly url: string;
  /** What it holds, for the model. */
  readonly description: string | undefined;
  readonly readOnly: boolean;
  readonly timeoutMs: number;
  /** The most rows of an answer. */
  readonly rows: number;
};

/** The databases that can be asked, by the protocol of their address. */
export const databaseKinds: Readonly<Record<string, string>> = {
  "postgres:": "PostgreSQL",
  "postgresql:": "PostgreSQL",
  "mysql:": "MySQL",
  "mariadb:": "MariaDB",
  "sqlite:": "SQLite",
};
