import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { rpc, textMessage, type Wire, wire } from "../a2a/rpc.ts";
import { endsOf } from "./ends.ts";
import { type Facts, viewsNow } from "./intended.ts";
import { begin, begunTwice, sentTwice } from "./make-runs.ts";
import { openHome, readJson } from "./open-home.ts";
import { here, stored } from "./store.ts";
import { eventually, type System } from "./system.ts";
import { type Views, viewsOf } from "./views.ts";

const checkout = resolve(import.meta.dir, "../..");
const homes = readdirSync(import.meta.dir).filter((name) => /^\d{4}-\d{2}[a-z]?$/.test(name));

describe.each(homes)("a home of %s", (name) => {
  const folder = join(import.meta.dir, name);
  let system: System;
  let recorded: Views;

  beforeAll(async () => {
    recorded = await readJson(folder, "views");
    system = await openHome(checkout, folder);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test("shows every run as it was shown then", async () => {
    expect(await viewsOf(system)).toEqual(viewsNow(name, recorded, factsOf(system)));
  });

  test("resumes its unfinished runs, which end as they would have, with nothing done twice", async () => {
    const ends = await endsOf(system);
    expect(ends).toEqual(await readJson(folder, "ends"));
    const done: string[] = await readJson(folder, "done");
    expect(ends.asked.filter((one) => done.includes(one))).toEqual([]);
    await eventually("what they gave to others has ended too", () => {
      using db = new Database(system.path, { readonly: true });
      return db.query("SELECT 1 FROM runs WHERE status NOT IN ('completed', 'failed', 'canceled')").get() === null;
    });
  });

  test("continues its conversations, over every adapter, with their files", async () => {
    const files = runOf("Make a file. do:files");
    const message = textMessage("What is in it? do:remember", { contextId: files.contextId });
    const { body } = await rpc(`${system.urls.gateway}/a2a/manus`, "SendMessage", message);
    expect(JSON.stringify(body.result.task.artifacts)).toContain("Hello, home.");

    const chat = runOf("By chat. do:chat");
    const said = (role: string, content: string) => ({ role, content });
    const messages = [said("user", chat.input), said("assistant", chat.answer), said("user", "And then?")];
    const init = { method: "POST", body: JSON.stringify({ model: "manus", messages }) };
    await fetch(`${system.urls.gateway}/v1/chat/completions`, {
      ...init,
      headers: { "Content-Type": "application/json" },
    });
    const { runs } = await wire(fetch(`${system.urls.gateway}/runs?limit=50`));
    expect(runs.find((run: Wire) => run.input === "And then?")).toMatchObject({ contextId: chat.contextId });
  });

  test("recognizes a message and a request that were sent to it before", async () => {
    const { body } = await rpc(system.urls.manus, "SendMessage", sentTwice);
    const [first] = Object.values(recorded).filter(({ history }) => history?.[0]?.messageId === "sent-twice");
    expect(stored(body.result.task.id, system.names)).toBe(first.id);
    expect(await begin(system, "sequential", begunTwice, "begun-twice")).toBe(runOf(begunTwice.input).id);
    expect(system.play.done.filter((one) => /do:(picture|twice)/.test(one))).toEqual([]);
  });

  /** The run whose input starts with these words, as recorded. */
  function runOf(input: string): Wire {
    const found = Object.entries(recorded).find(([key, view]) => /^GET \/runs\/\S+$/.test(key) && view.input === input);
    return JSON.parse(here(JSON.stringify(found?.[1]), system.names));
  }
});

function factsOf({ path, names }: System): Facts {
  using db = new Database(path, { readonly: true });
  const failed = db
    .query<{ id: string; error: string }, []>("SELECT id, error FROM runs WHERE status = 'failed'")
    .all();
  const errors = failed.map(({ id, error }) => [stored(id, names), JSON.parse(stored(error, names))]);
  return { errors: Object.fromEntries(errors) };
}
