import { newKey, post } from "./api.js";
import { element, fill } from "./element.js";

/**
 * The form for messages to a run: the answer to its question, or something it should know while it
 * works.
 *
 * @param {string} id The run. @param {(error: unknown) => void} report @returns {{ root:
 * HTMLElement, show(run: { status: string, question?: string }): void }}
 */
export function replyForm(id, report) {
  const question = element("div", { class: "question", id: "question", "aria-live": "polite" });
  const input = element("textarea", { id: "reply", rows: 3, required: true, "aria-describedby": "question" });
  const label = element("label", { for: "reply" });
  const button = element("button", { class: "primary" });
  let key = newKey();
  const send = async () => {
    button.disabled = true;
    try {
      await post(`/runs/${encodeURIComponent(id)}/answer`, { input: input.value }, { "Idempotency-Key": key });
      key = newKey();
      input.value = "";
    } catch (error) {
      report(error);
    } finally {
      button.disabled = false;
    }
  };
  const root = element(
    "form",
    {
      class: "reply",
      hidden: true,
      onsubmit(event) {
        event.preventDefault();
        void send();
      },
      onkeydown(event) {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) root.requestSubmit();
      },
    },
    question,
    label,
    input,
    button,
  );
  return {
    root,
    show({ status, question: asked }) {
      root.hidden = ["completed", "failed", "canceled"].includes(status);
      const isAsked = asked !== undefined;
      root.classList.toggle("asked", isAsked);
      fill(question, asked ?? "");
      fill(label, isAsked ? "Your answer" : "Send a message to the run");
      fill(button, isAsked ? "Answer" : "Send");
    },
  };
}
