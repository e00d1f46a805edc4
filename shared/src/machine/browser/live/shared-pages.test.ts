import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { PersonInput } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Browsers, Browsing, OpenDialog } from "../browser.ts";
import { sharedPages } from "./shared-pages.ts";

const workspace = {} as Workspace;

/** A page that a person uses, and all that was done, in its order. */
function scene(fails?: unknown) {
  const done: string[] = [];
  const state = { url: "https://shop.example/login?user=ann#top", dialog: undefined as OpenDialog | undefined };
  const log =
    (name: string) =>
    async (...args: unknown[]) =>
      void done.push([name, ...args.map((one) => (typeof one === "object" ? JSON.stringify(one) : one))].join(" "));
  const frame = { evaluate: async (script: string) => void done.push(/security/.test(script) ? "cover" : "mark") };
  const page = {
    url: () => state.url,
    frames: () => [frame, frame],
    goBack: log("back"),
    mouse: { move: log("move"), down: log("down"), up: log("up"), wheel: log("wheel") },
    keyboard: { type: log("type"), insertText: log("insert"), press: log("press") },
  };
  const browsing = {
    active: () => ({ id: 1, page }),
    tabs: () => [{ page }, { page }],
    dialog: () => state.dialog,
    tell: (sentence: string) => void done.push(sentence),
    async act(run: (on: typeof page) => Promise<void>, { timeoutMs }: { timeoutMs: number }) {
      if (fails !== undefined) throw fails;
      done.push(`within ${timeoutMs}`);
      await run(page);
    },
  } as unknown as Browsing;
  const pages = sharedPages({ peek: () => browsing } as unknown as Browsers, async (of, at) => {
    done.push(`typed at ${at.map(({ host }) => host).join(", ")}${of === workspace ? "" : "?"}`);
  });
  const use = async (input: PersonInput) => {
    await pages.use(browsing, input);
    return done.splice(0);
  };
  return { state, done, pages, browsing, use };
}

const at = { x: 5, y: 6 };
const long = "x".repeat(201);
test.each<[PersonInput, string[]]>([
  [{ type: "pointer", act: "move", ...at, button: "left", clicks: 1 }, ["move 5 6"]],
  [
    { type: "pointer", act: "down", ...at, button: "right", clicks: 2 },
    ["move 5 6", 'down {"button":"right","clickCount":2}'],
  ],
  [
    { type: "pointer", act: "up", ...at, button: "left", clicks: 1 },
    ["move 5 6", 'up {"button":"left","clickCount":1}'],
  ],
  [{ type: "wheel", ...at, dx: 1, dy: -2 }, ["move 5 6", "wheel 1 -2"]],
  [{ type: "text", text: long.slice(1) }, ["mark", "mark", `type ${long.slice(1)}`]],
  [{ type: "text", text: long }, ["mark", "mark", `insert ${long}`]],
  [{ type: "key", key: "Tab" }, ["mark", "mark", "press Tab"]],
  [{ type: "back" }, ['back {"waitUntil":"commit"}']],
])("a person's %j is done to the page, and a field is marked before anything is in it", async (input, done) => {
  expect(await scene().use(input)).toEqual(["within 10000", ...done]);
});

test("where a person typed is told once when the page is handed back, before the agent has it, with the fields covered", async () => {
  const { state, done, use, pages, browsing } = scene();
  const back = async () => {
    await pages.handedBack(browsing, workspace, 7);
    return done.splice(0);
  };
  const told = (place: string) => `A person used the browser for 7 s and handed it back, on ${place}.`;
  await use({ type: "text", text: "x" });
  await use({ type: "key", key: "a" });
  state.url = "https://bank.example:8443/";
  await use({ type: "pointer", act: "down", ...at, button: "left", clicks: 1 });
  state.url = "https://mail.example/inbox?token=1";
  await use({ type: "key", key: "Enter" });
  const covers = ["cover", "cover", "cover", "cover"];
  expect(await back()).toEqual(["typed at shop.example, mail.example", ...covers, told("https://mail.example/inbox")]);
  state.url = "about:blank";
  expect(await back()).toEqual(["typed at ", ...covers, told("an empty page")]);
});

test("a dialog is answered by a person, and holds up everything else, which is then not counted as typed", async () => {
  const { state, done, use, pages, browsing } = scene();
  expect(await use({ type: "dialog", accept: true })).toEqual([]);
  const answer = async (accept: boolean, text?: string) => void done.push(`answered ${accept} ${text}`);
  state.dialog = { kind: "prompt", message: "Name?", defaultText: "", answer };
  expect(await use({ type: "dialog", accept: true, text: "Ann" })).toEqual(["answered true Ann"]);
  await expect(use({ type: "text", text: "x" })).rejects.toMatchObject({
    code: "conflict",
    message: "Answer the page's dialog first.",
  });
  await pages.handedBack(browsing, workspace, 1);
  expect(done[0]).toBe("typed at ");
});

test("an error that may hold what was typed is not told, and one of ours is", async () => {
  const ours = new AppError("timeout", "The page does not respond any more.");
  await expect(scene(ours).use({ type: "back" })).rejects.toBe(ours);
  await expect(scene(new Error('type("hunter2") failed')).use({ type: "text", text: "hunter2" })).rejects.toMatchObject(
    {
      code: "unavailable",
      message: "The page did not accept that.",
    },
  );
});
