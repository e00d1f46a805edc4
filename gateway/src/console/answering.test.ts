import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { browserByHand, settled, until, withoutWaiting } from "../testing/browser-by-hand.ts";
import { drawnByHand } from "../testing/drawn-by-hand.ts";

const at = browserByHand();
afterAll(() => at[Symbol.dispose]());
beforeEach(() => at.reset());

const clock = spyOn(performance, "now");
afterAll(() => clock.mockRestore());
beforeEach(() => void clock.mockReturnValue(1_000));

const refusal = (code: string, status = 409) => Response.json({ code, detail: code }, { status });
const away = () => Promise.reject(new TypeError("The gateway is away."));
/** What is posted is answered so; the lists that are read after it are empty. */
const answering = (...answers: (() => Response | Promise<Response>)[]) => {
  at.answer = (path) =>
    path.startsWith("./runs?") ? Response.json({ runs: [] }) : (answers.shift()?.() ?? Response.json({}));
};

const approval = { id: "k7", name: "bash", arguments: '{"command":"rm -r x","n":2}', forTask: "any rm in this task" };
const card = async (props: object) => {
  const { QuestionCard } = await at.load("parts/question-card.tsx");
  const base = { runId: "r/1", contextId: "c", who: "manus", kind: "question", question: "Which?", questionEvent: 5 };
  clock.mockReturnValue(1_000);
  const shown = drawnByHand(QuestionCard, { ...base, ...props });
  shown.look();
  clock.mockReturnValue(1_400);
  return shown;
};

test("an approval says what would happen with all arguments, and is given, refused or given for the task once, for its question", async () => {
  using _ = withoutWaiting();
  const asking = { kind: "approval", approval };
  const shown = await card(asking);
  const { text } = shown.find("div", "");
  for (const said of ["bash", "rm -r x", "command", "n", "2", "any rm in this task."]) expect(text).toContain(said);
  const hidden = await card({ kind: "approval", approval: { ...approval, risk: "pays\u202e" } });
  expect(hidden.find("div", "").text).toContain("pays\\u202e");
  clock.mockReturnValue(1_399);
  await shown.find("button", "Allow once").props.onClick();
  expect(at.posted).toEqual([]);
  clock.mockReturnValue(1_400);
  const answers: [string, string][] = [
    ["Allow once", "yes k7"],
    ["Allow for this task", "yes k7 for this task"],
    ["Deny", "no"],
  ];
  const keys = new Set<string | null>();
  for (const [label, said] of answers) {
    at.posted.length = 0;
    answering();
    const one = await card(asking);
    one.find("button", label).props.onClick();
    // It is being sent: another press is none.
    one.find("button", "Deny with").props.onClick?.();
    for (const button of one.look().filter(({ name }) => name === "button")) expect(button.props.disabled).toBe(true);
    one.find("div", "").props.onKeyDown({ key: "d", target: {}, preventDefault() {} });
    await settled();
    expect(at.posted).toMatchObject([{ path: "./runs/r%2F1/answer", body: { input: said, questionEvent: 5 } }]);
    keys.add(at.posted[0]?.key ?? null);
  }
  expect(keys.size).toBe(3);
});

test("keys decide an approval, not while something is typed or with another key held, and no other question", async () => {
  using _ = withoutWaiting();
  const press = async (key: string, more: object = {}, props: object = { kind: "approval", approval }) => {
    at.posted.length = 0;
    answering();
    const shown = await card(props);
    shown.find("div", "").props.onKeyDown({ key, target: {}, preventDefault() {}, ...more });
    await settled();
    return at.posted.map(({ body }) => (body as { input: string }).input);
  };
  expect([await press("a"), await press("T"), await press("d"), await press("x")]).toEqual([
    ...[["yes k7"], ["yes k7 for this task"], ["no"], []],
  ]);
  const field = { target: at.element("HTMLTextAreaElement") };
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, field])
    expect([more, await press("a", more)]).toEqual([more, []]);
  const { forTask: __, ...once } = approval;
  expect(await press("t", {}, { kind: "approval", approval: once })).toEqual([]);
  expect(await press("a", {}, {})).toEqual([]);
});

test("a refusal is told with its reason", async () => {
  using _ = withoutWaiting();
  for (const [reason, said] of [
    [" Not there. ", "no: Not there."],
    ["yes k7", "no: yes k7"],
    [" ", "no"],
  ]) {
    at.posted.length = 0;
    answering();
    const shown = await card({ kind: "approval", approval });
    shown.find("button", "Deny with a reason").props.onClick();
    shown.find("textarea", "Reason").props.onInput({ currentTarget: { value: reason } });
    shown.find("button", "Deny").props.onClick();
    await settled();
    expect(at.posted).toMatchObject([{ body: { input: said } }]);
  }
});

test("an answer that nobody takes stays, goes again under its key, and is gone once it has arrived", async () => {
  using _ = withoutWaiting();
  const { draftOf } = await at.load("state/drafts.ts");
  const typed = draftOf("question-r/1-5").text;
  const shown = await card({});
  const send = async () => {
    shown.find("form", "").props.onSubmit({ preventDefault() {} });
    await settled();
  };
  await send();
  typed.value = "  ";
  await send();
  expect(at.posted).toEqual([]);
  typed.value = "The first.";
  answering(
    away,
    () => refusal("conflict"),
    () => Response.json({}),
  );
  for (const left of ["The first.", "The first.", ""]) {
    await send();
    expect(typed.value).toBe(left);
  }
  expect(at.posted.map(({ body }) => body)).toEqual(Array(3).fill({ input: "The first.", questionEvent: 5 }));
  expect(new Set(at.posted.map(({ key }) => key)).size).toBe(1);
  // Another question of the run has a draft of its own.
  expect(draftOf("question-r/1-6").text.value).toBe("");
});

test("an answer that comes after the end goes to where one goes on, unless something is written there", async () => {
  using _ = withoutWaiting();
  const { draftOf } = await at.load("state/drafts.ts");
  const typed = draftOf("question-r/1-5").text;
  for (const [there, then] of [
    ["", "Too late."],
    ["mine", "mine"],
  ]) {
    draftOf("c").text.value = there;
    answering(() => refusal("run_ended"));
    const shown = await card({});
    typed.value = "Too late.";
    shown.find("form", "").props.onSubmit({ preventDefault() {} });
    await settled();
    expect(draftOf("c").text.value).toBe(then as string);
  }
  draftOf("c").text.value = "";
  answering(() => refusal("run_ended"));
  (await card({ kind: "approval", approval })).find("button", "Allow once").props.onClick();
  await settled();
  expect(draftOf("c").text.value).toBe("");
});

test("a message goes to the task at work, or after its end to a next one, once, and stays where it was refused", async () => {
  using _ = withoutWaiting();
  const { Dock } = await at.load("pages/conversation/dock.tsx");
  const { draftOf } = await at.load("state/drafts.ts");
  const draft = draftOf("c2");
  let sent = 0;
  const newest = { id: "r/1", name: "swe/x", status: "running", question: "Which?", questionEvent: 5 };
  const dock = (run: object = newest) => drawnByHand(Dock, { contextId: "c2", newest: run, sent: () => sent++ });
  const send = async (shown: ReturnType<typeof dock>) => {
    shown.find("form", "").props.onSubmit({ preventDefault() {} });
    await settled();
  };
  const shown = dock();
  await send(shown);
  expect(at.posted).toEqual([]);
  draft.text.value = "Go on.";
  answering(
    away,
    () => refusal("invalid_input", 400),
    () => Response.json({}),
  );
  for (const left of ["Go on.", "Go on.", ""]) {
    await send(shown);
    expect(draft.text.value).toBe(left);
  }
  const answer = { path: "./runs/r%2F1/answer", body: { input: { text: "Go on." }, questionEvent: 5 } };
  expect(at.posted).toMatchObject([answer, answer, answer]);
  const keys = at.posted.map(({ key }) => key);
  expect([keys[0] === keys[1], keys[1] === keys[2], sent]).toEqual([true, false, 1]);
  draft.files.value = [new File(["a"], "a.txt")];
  await send(shown);
  expect(at.posted[3]?.key).not.toBe(keys[2] as string);
  expect([at.posted[3]?.body, draft.files.value]).toMatchObject([{ input: { files: [{ name: "a.txt" }] } }, []]);
  at.posted.length = 0;
  draft.text.value = "Next.";
  const { questionEvent: __, ...silent } = newest;
  answering(
    () => refusal("run_ended"),
    () => Response.json({ contextId: "c2", runs: [] }),
  );
  await send(dock(silent));
  expect(at.posted).toMatchObject([
    { path: "./runs/r%2F1/answer", body: { input: { text: "Next." } } },
    { path: "./flows/swe%2Fx", body: { input: { text: "Next." }, contextId: "c2" } },
  ]);
  expect([at.posted[0]?.body, at.posted[0]?.key === at.posted[1]?.key]).toEqual([{ input: { text: "Next." } }, true]);
  at.posted.length = 0;
  draft.text.value = "Again.";
  answering();
  await send(dock({ ...newest, status: "completed" }));
  expect(at.posted.map(({ path }) => path)).toEqual(["./flows/swe%2Fx"]);
});

test("what a run says is heard once it is stored, and shown while it is written", async () => {
  using _ = withoutWaiting();
  const { useRunEvents } = await at.load("pages/conversation/use-run-events.ts");
  const { Announcer } = await at.load("parts/announcer.tsx");
  const heard: string[] = [];
  const lines: object[] = [
    { seq: 1, at: "", event: { type: "agent-asked", askId: "r/1", agent: "swe", text: "", parts: [] } },
    { seq: 2, at: "", event: { type: "step-started", step: 1, maxSteps: 3 } },
    { seq: 2, at: "", event: { type: "model-replied", text: "Before.", toolCalls: [], usage: {}, milliseconds: 1 } },
    { progress: { type: "text-delta", text: "Half" } },
    { progress: { type: "deltas-void" } },
    { progress: { type: "text-delta", text: "An" } },
    { progress: { type: "text-delta", text: " answer." } },
    { progress: { type: "agent-written", agent: "swe", text: "piece" } },
    { progress: { type: "agent-written", agent: "swe", text: "The whole." } },
    { progress: { type: "agent-written", agent: "swe", text: "", isThought: true } },
    { progress: { type: "tool-output", text: "x".repeat(5_000), askId: "r/1" } },
    { progress: { type: "agent-writing", text: "Then", askId: "r/1" } },
    { seq: 3, at: "", event: { type: "model-replied", text: "An answer.", toolCalls: [], usage: {}, milliseconds: 1 } },
    {
      seq: 4,
      at: "",
      event: { type: "artifact-added", name: "answer", parts: [{ type: "text", text: "An answer." }] },
    },
    { seq: 5, at: "", event: { type: "run-ended", status: "completed" } },
  ];
  let more = Promise.withResolvers<void>();
  at.answer = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          const line = lines.shift();
          if (line === undefined) return controller.close();
          await more.promise;
          more = Promise.withResolvers();
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(line)}\n\n`));
        },
      }),
    );
  let run: { live: { value: unknown }; connected: { value: boolean } } | undefined;
  const shown = drawnByHand(() => {
    run = useRunEvents("r", "manus", () => undefined, 2);
    return null;
  }, {});
  shown.look();
  const live: unknown[] = [];
  for (let turn = 0; turn < 15; turn++) {
    more.resolve();
    await settled();
    live.push(run?.live.value);
    const said = JSON.stringify(Announcer());
    if (said !== heard.at(-1)) heard.push(said);
  }
  const words = (who: string, text: string, isVoid = false) => ({ who, text, isVoid });
  const void_ = words("manus", "Half", true);
  expect(live.slice(2, 12)).toEqual([
    [],
    [words("manus", "Half")],
    [void_],
    [void_, words("manus", "An")],
    [void_, words("manus", "An answer.")],
    [void_, words("manus", "An answer."), words("swe", "piece")],
    [void_, words("manus", "An answer."), words("swe", "The whole.")],
    [void_, words("manus", "An answer.")],
    [void_, words("manus", "An answer."), words(":tool-output", "x".repeat(4_000))],
    [void_, words("manus", "An answer."), words("swe", "Then")],
  ]);
  expect(live.slice(12)).toEqual([[], [], []]);
  expect(heard.filter((said) => said.includes("An answer."))).toHaveLength(1);
  expect(heard.filter((said) => said.includes("Before."))).toHaveLength(0);
  shown.remove();
  await until(() => lines.length === 0);
});
