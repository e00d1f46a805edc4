import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { browserByHand, settled, until, withoutWaiting } from "../testing/browser-by-hand.ts";
import { drawnByHand } from "../testing/drawn-by-hand.ts";

const at = browserByHand();
afterAll(() => at[Symbol.dispose]());
beforeEach(() => at.reset());

test("a draft outlives a reload, and loses what was sent, not what was written or added meanwhile", async () => {
  const { draftOf } = await at.load("state/drafts.ts");
  at.kept.set("manyhands-draft-kept", "from before");
  expect(draftOf("kept").text.value).toBe("from before");
  const draft = draftOf("c1");
  expect([draftOf("c1") === draft, draft.text.value]).toEqual([true, ""]);
  draft.text.value = "Do it.";
  expect(at.kept.get("manyhands-draft-c1")).toBe("Do it.");
  const [sent, added] = [new File(["a"], "a"), new File(["b"], "b")];
  draft.files.value = [sent, added];
  draft.text.value = "Do it. And more";
  draft.sent("Do it.", [sent]);
  expect([draft.text.value, draft.files.value]).toEqual(["And more", [added]]);
  draft.sent("Something else", []);
  expect(draft.text.value).toBe("And more");
  draft.sent("And more", [added]);
  expect([draft.text.value, draft.files.value, at.kept.has("manyhands-draft-c1")]).toEqual(["", [], false]);
});

test("figures are told as people say them", async () => {
  const format = await at.load("words/format.ts");
  const from = (seconds: number) => format.ageText(new Date(1e9 - seconds * 1_000).toISOString(), 1e9);
  const ages = [-5, 0, 59, 60, 3_599, 3_600, 86_399, 86_400, 200_000].map(from);
  expect(ages).toEqual(["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d", "2 d"]);
  expect([0, 999, 1_000, 9_960, 10_000, 999_999, 1_000_000, 12_345_678].map(format.sizeText)).toEqual([
    ...["0 B", "999 B", "1.0 kB", "10.0 kB", "10 kB", "1000 kB", "1.0 MB", "12 MB"],
  ]);
  expect(
    [84.4, 999, 1_000, 4_249, 9_999, 10_000, 59_400, 72_000, 3_599_000, 7_500_000].map(format.durationText),
  ).toEqual(["84 ms", "999 ms", "1 s", "4.2 s", "10 s", "10 s", "59 s", "1 min 12 s", "59 min 59 s", "2 h 5 min"]);
  expect([0, 0.0031, 0.01, 0.414, 12].map(format.moneyText)).toEqual(["$0.00", "$0.0031", "$0.01", "$0.41", "$12.00"]);
  const cost = (usd: number, unpriced: boolean) => format.costText({ usd, unpriced });
  const [known, none, partly] = [cost(0.5, false), cost(0, true), cost(0.5, true)];
  expect([known, none.includes("$"), partly.includes("$0.50"), partly === known]).toEqual([
    "$0.50",
    false,
    true,
    false,
  ]);
  expect(format.countText(12_345)).toBe("12,345");
});

test("texts of others are told in a line, without marks, and without what would mislead", async () => {
  const { shortLine, plainText, safeText } = await at.load("words/format.ts");
  expect([shortLine(" a\n b\t c "), shortLine("abcd", 4), shortLine("abcde", 4)]).toEqual(["a b c", "abcd", "abc…"]);
  expect(plainText("## Head\n- **one** `two`\n> said\n+ plus\n# 1")).toBe("Head\none two\nsaid\nplus\n1");
  const begun = performance.now();
  expect(plainText("*Beta* is a 5* house of 2 * 3 m, a*b*c")).toBe("Beta is a 5* house of 2 * 3 m, a*b*c");
  plainText(" *a".repeat(100_000));
  plainText("\n".repeat(200_000));
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(safeText("a\r\nb\tc\n")).toBe("a\nb\tc\n");
  const misleading = [0, 0x0b, 0x0d, 0x1b, 0x7f, 0x9f, 0x61c, 0x200b, 0x200e, 0x2028, 0x202e, 0x2060, 0x2066, 0xfeff];
  misleading.push(0xad, 0x34f, 0x180e, 0x2061, 0x206a, 0x3164, 0xfe00, 0xfff9);
  for (const code of misleading)
    expect(safeText(`a${String.fromCharCode(code)}b`)).toBe(`a\\u${code.toString(16).padStart(4, "0")}b`);
  // Letters that a model reads and no person sees.
  expect(safeText(`a${String.fromCodePoint(0xe0041)}b`)).toBe("a\\udb40\\udc41b");
  expect(safeText("é日 \u200d😀")).toBe("é日 \u200d😀");
});

test("an address has its parts and its query, however they are written, and a change of the query keeps the rest", async () => {
  const { address, place, setQuery, startRouter } = await at.load("state/router.ts");
  startRouter();
  const read = (hash: string) => {
    at.location.hash = hash;
    at.fire("hashchange");
    return [place.value.parts, Object.fromEntries(place.value.query)];
  };
  expect(read("#/c/a%2Fb/100%?q=a%3Fb&days=2?")).toEqual([["c", "a/b", "100%"], { q: "a?b", days: "2?" }]);
  expect(read("")).toEqual([[], {}]);
  expect(address(["runs", "a/b"], { q: "x y", none: undefined, empty: "", zero: 0 })).toBe("#/runs/a%2Fb?q=x+y&zero=0");
  read("#/runs?q=x&status=failed");
  at.history.length = 0;
  setQuery({ q: undefined, days: 2 });
  expect([place.value.parts, Object.fromEntries(place.value.query)]).toEqual([
    ["runs"],
    { status: "failed", days: "2" },
  ]);
  setQuery({ status: "" }, true);
  expect(at.history).toEqual([
    ["replace", "#/runs?status=failed&days=2"],
    ["push", "#/runs?days=2"],
  ]);
  at.location.hash = "#/waiting";
  at.fire("popstate");
  expect(place.value.parts).toEqual(["waiting"]);
});

test("views are kept by name, thirty at most, and what somebody else wrote there is left out", async () => {
  const written = [
    { name: "a", filters: { q: "x", other: "y", status: 7 } },
    { name: "" },
    { name: 7 },
    null,
    { name: "b" },
  ];
  at.kept.set("manyhands-views", JSON.stringify(written));
  const views = await at.load("pages/runs/saved-views.ts?written");
  expect(views.savedViews.value).toEqual([
    { name: "a", filters: { q: "x" } },
    { name: "b", filters: {} },
  ]);
  views.saveView({ name: "a", filters: { q: "new" } });
  expect(JSON.parse(at.kept.get("manyhands-views") ?? "")).toEqual([
    { name: "b", filters: {} },
    { name: "a", filters: { q: "new" } },
  ]);
  for (let count = 0; count < 30; count++) views.saveView({ name: `v${count}`, filters: {} });
  expect(views.savedViews.value.map(({ name }: { name: string }) => name)).toEqual(
    Array.from({ length: 30 }, (_, count) => `v${count}`),
  );
  views.removeView("v3");
  expect(at.kept.get("manyhands-views")).not.toContain('"v3"');
  for (const broken of ["{", "{}", "7"]) {
    at.kept.set("manyhands-views", broken);
    expect((await at.load(`pages/runs/saved-views.ts?${encodeURIComponent(broken)}`)).savedViews.value).toEqual([]);
  }
});

type Said = { readonly props: { readonly children: readonly { readonly props: Record<string, unknown> }[] } };

test("what was done is told for six seconds, what failed for twelve, each by itself, with its way back", async () => {
  using later = spyOn(globalThis, "setTimeout").mockReturnValue(0 as never);
  const { toast, complain, Toasts } = await at.load("parts/toast.tsx");
  const shown = () =>
    (Toasts({}) as Said).props.children.map(({ props }) => props as { class: string; children: unknown });
  const words = () => shown().map(({ children }) => (children as [{ props: { children: string } }])[0].props.children);
  let undone = 0;
  toast("Deleted.", () => undone++);
  complain(new Error("It failed."));
  complain("as it is");
  expect(words()).toEqual(["Deleted.", "It failed.", "as it is"]);
  expect(shown().map((one) => one.class)).toEqual(["toast", "toast bad", "toast bad"]);
  expect(later.mock.calls.map(([, ms]) => ms)).toEqual([6_000, 12_000, 12_000]);
  const passed = (at: number) => (later.mock.calls[at]?.[0] as (() => void) | undefined)?.();
  passed(1);
  expect(words()).toEqual(["Deleted.", "as it is"]);
  const [, undo] = (shown()[0]?.children ?? []) as [unknown?, { props: { onClick(): void } }?];
  undo?.props.onClick();
  expect([undone, words()]).toEqual([1, ["as it is"]]);
  passed(2);
  expect(words()).toEqual([]);
});

test("a person hears of runs that begin to wait or end, each once, and is notified if they asked for it and look elsewhere", async () => {
  using _ = withoutWaiting();
  const { startRunNews, unseenFailures } = await at.load("attention/run-news.ts");
  const { lastChange } = await at.load("state/store.ts");
  const { place } = await at.load("state/router.ts");
  const { allowNotifications, notifications } = await at.load("attention/notifications.ts");
  at.answer = (path) => Response.json({ id: path.split("/").at(-1), input: `Task ${path.split("/").at(-1)}` });
  const stop = startRunNews();
  await allowNotifications(true);
  expect([notifications.value, at.kept.get("manyhands-notifications")]).toEqual(["on", "on"]);
  const tell = async (id: string, status: string) => {
    at.asked.length = 0;
    lastChange.value = { runs: [{ id, contextId: `c-${id}`, status, lastEvent: 1 }] };
    await settled();
    return at.asked.length;
  };
  const told = [];
  for (const status of ["running", "input-required", "input-required", "running", "canceled"])
    told.push(await tell("a", status));
  expect(told).toEqual([0, 1, 0, 0, 0]);
  expect(at.notices.map(({ options }) => options)).toEqual([{ body: "Task a", tag: "a" }]);
  at.notices[0]?.onclick?.();
  expect(at.location.hash).toBe("#/c/c-a");
  expect([await tell("b", "completed"), await tell("f", "failed"), await tell("f", "running")]).toEqual([1, 1, 0]);
  await tell("f", "failed");
  const failed = () => unseenFailures.value.map(({ id }: { id: string }) => id);
  expect([at.notices.length, failed()]).toEqual([4, ["f"]]);
  // Whoever looks at it has seen it, but not in a page that is hidden.
  at.document.hidden = true;
  place.value = { parts: ["c", "c-f"], query: new URLSearchParams() };
  expect(failed()).toEqual(["f"]);
  at.document.hidden = false;
  at.fire("visibilitychange");
  expect(failed()).toEqual([]);
  await tell("f", "running");
  await tell("f", "failed");
  place.value = { parts: ["runs", "g"], query: new URLSearchParams() };
  await tell("g", "failed");
  expect([at.notices.length, failed()]).toEqual([4, []]);
  place.value = { parts: ["runs"], query: new URLSearchParams() };
  await tell("h", "failed");
  expect([at.notices.length, failed()]).toEqual([4, []]);
  place.value = { parts: ["waiting"], query: new URLSearchParams() };
  await allowNotifications(false);
  await tell("i", "failed");
  expect([at.notices.length, failed(), notifications.value]).toEqual([4, ["i"], "off"]);
  at.permission = "denied";
  await allowNotifications(true);
  expect(notifications.value).toBe("blocked");
  at.permission = "default";
  await allowNotifications(false);
  expect([at.permission, notifications.value]).toEqual(["default", "off"]);
  await until(() => at.asked.length > 0);
  stop();
  expect(await tell("j", "failed")).toBe(0);
});

test("keys act where nobody types, single ones unless they are turned off, and no longer than what they act on is shown", async () => {
  const { useKeys, singleKeys } = await at.load("parts/keys.ts");
  const pressed: string[] = [];
  const shown = drawnByHand(() => {
    useKeys({ j: () => pressed.push("j"), "mod+k": () => pressed.push("k") });
    return null;
  }, {});
  shown.look();
  let prevented = 0;
  const press = (key: string, more: object = {}) => {
    pressed.length = 0;
    at.fire("keydown", { key, target: null, preventDefault: () => prevented++, ...more });
    return pressed.join();
  };
  const on = (more: object) => ({
    target: at.element("HTMLElement", {
      tagName: "DIV",
      isContentEditable: false,
      closest: () => null,
      ...more,
    }),
  });
  const input = on({ tagName: "INPUT" });
  expect([press("j"), press("K", { ctrlKey: true }), press("k", { metaKey: true, ...input }), prevented]).toEqual([
    ...["j", "k", "k", 3],
  ]);
  expect([press("x"), press("k"), press("j", { ctrlKey: true }), prevented]).toEqual(["", "", "", 3]);
  for (const more of [{ defaultPrevented: true }, { altKey: true }, input, on({ isContentEditable: true })])
    expect([more, press("j", more)]).toEqual([more, ""]);
  expect([press("j", on({ closest: () => ({}) })), press("j", on({ tagName: "SELECT" })), press("j", on({}))]).toEqual([
    ...["", "", "j"],
  ]);
  singleKeys.on = false;
  expect([press("j"), press("k", { ctrlKey: true })]).toEqual(["", "k"]);
  singleKeys.on = true;
  expect(press("j")).toBe("j");
  shown.remove();
  expect(press("j")).toBe("");
});
