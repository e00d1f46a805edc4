import { element } from "./element.js";

/** The dialog that is open, and what it will answer. */
const open = { answer: undefined };

/**
 * Asks the user for this gateway's token. Who asks while the dialog is open gets the same answer.
 *
 * @param {boolean} wasWrong Whether one was given and refused.
 * @returns {Promise<string>}
 */
export function askToken(wasWrong) {
  open.answer ??= show(wasWrong).finally(() => {
    open.answer = undefined;
  });
  return open.answer;
}

function show(wasWrong) {
  return new Promise((resolve) => {
    const input = element("input", {
      id: "token",
      type: "password",
      required: true,
      autocomplete: "off",
      "aria-describedby": "token-note",
    });
    const form = element(
      "form",
      {
        onsubmit(event) {
          event.preventDefault();
          dialog.remove();
          resolve(input.value.trim());
        },
      },
      element("h2", {}, wasWrong ? "That is not the token" : "This gateway wants a token"),
      element("label", { for: "token" }, "Token"),
      input,
      element(
        "p",
        { id: "token-note", class: "quiet" },
        "MANYHANDS_TOKEN of the gateway. It is kept until this tab closes.",
      ),
      element("button", { class: "primary" }, "Go on"),
    );
    const dialog = element("dialog", { oncancel: (event) => event.preventDefault() }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}
