import { expect, test } from "bun:test";
import { contextForTest } from "../../testing/tool-context.ts";
import { workspaceForTest } from "../../testing/workspace.ts";
import { type CallOutcome, createSuspendedCalls, type SuspendedCall } from "./suspended-calls.ts";

/** Work that asks, and returns the person's answer. */
async function asking(call: SuspendedCall): Promise<CallOutcome> {
  const { action } = await call.ask((id) => ({ type: "asks", question: "Really?", state: id }));
  return { type: "result", result: { content: [{ type: "text", text: action }] } };
}

test("releasing a conversation ends its calls that wait for an answer, and those of no other", async () => {
  await using ours = await workspaceForTest();
  await using theirs = await workspaceForTest();
  const held = createSuspendedCalls();
  const begin = async ({ workspace }: typeof ours) => {
    const outcome = await held.hold(contextForTest(workspace), asking);
    return outcome.type === "asks" ? held.take(String(outcome.state)) : undefined;
  };
  const [first, other] = [await begin(ours), await begin(theirs)];
  held.release(ours.workspace.root);
  const late = first?.({ action: "accept" }, contextForTest(ours.workspace));
  expect(late).rejects.toMatchObject({ code: "unavailable" });
  expect(await other?.({ action: "accept" }, contextForTest(theirs.workspace))).toMatchObject({
    result: { content: [{ text: "accept" }] },
  });
  held.release();
});
