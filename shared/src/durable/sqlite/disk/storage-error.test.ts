import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../replay/run-store.ts";
import { isBusy, storageFailure, storageUnavailable } from "./storage-error.ts";

const coded = (code: string) => Object.assign(new Error("no"), { code });

test("what SQLite says of its file, its disk and its locks is the storage's failure, each with its reason", () => {
  const failures = {
    ...{ SQLITE_FULL: "disk is full", SQLITE_IOERR_FSYNC: "cannot be read or written", SQLITE_READONLY: "read-only" },
    ...{ SQLITE_PERM: "not permitted", SQLITE_AUTH: "not permitted", SQLITE_CORRUPT_VTAB: "damaged" },
    ...{ SQLITE_NOTADB: "not a database", SQLITE_CANTOPEN: "cannot be opened", SQLITE_NOMEM: "memory ran out" },
    ...{ SQLITE_BUSY: "another process", SQLITE_LOCKED: "another connection", SQLITE_PROTOCOL: "do not work" },
  };
  for (const [code, reason] of Object.entries(failures)) {
    const said = storageFailure(coded(code)) ?? "";
    expect([said.includes(reason), said.endsWith(`(${code})`)]).toEqual([true, true]);
  }
  const others = [coded("SQLITE_CONSTRAINT_UNIQUE"), coded("SQLITE_ERROR"), coded("EIO"), new Error("no"), "no"];
  expect(others.map(storageFailure)).toEqual(others.map(() => undefined));
});

test("only a lock of another process is waited for, and a store that is away says why", () => {
  expect(["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED", "SQLITE_FULL"].map(coded).map(isBusy)).toEqual([
    ...[true, true, false, false],
  ]);
  const cause = coded("SQLITE_FULL");
  const error = storageUnavailable("its disk is full", cause);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(error).toMatchObject({ code: "storage_unavailable", cause });
  expect(error.message).toBe("The run store is unavailable: its disk is full.");
});
