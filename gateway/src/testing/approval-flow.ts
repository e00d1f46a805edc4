import { approvalCode, askApproval } from "manyhands/internal/core/tools/approval";
import { echo, type TestFlow } from "./gateway.ts";

/** The call that the flow asks about. */
export const proposedCall = {
  id: "c1",
  name: "send_form",
  arguments: '{"ref": "e24", "note": "line one\\nline two"}',
  forTask: "every call of send_form that clicks “Register” on shop.example",
  risk: "Click “Register” on shop.example. This sends the form.",
};

/** A flow that asks to be allowed one call, and answers with what the person decided. */
export const approvalFlow: TestFlow = {
  runnable: { ...echo, name: "careful", kind: "careful", title: "Careful", description: "Asks before it acts." },
  async execute(run) {
    const decision = await askApproval(run, proposedCall, approvalCode(run.id, proposedCall));
    const how = decision?.forTask === true ? "It was sent, and may be sent again." : "It was sent.";
    const text = decision?.allowed === true ? how : `It was not sent: ${decision?.said}`;
    run.emit({
      type: "artifact-added",
      artifactId: `${run.id}/answer`,
      name: "answer",
      parts: [{ type: "text", text }],
    });
    return { answer: text };
  },
};
