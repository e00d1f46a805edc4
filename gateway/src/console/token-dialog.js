import { element } from "./element.js";

/** The open dialog's answer. */
const open = { answer: undefined };

/**
 * Asks the user for this gateway's token. Callers that ask while the dialog is open share its
 * answer.
 *
 * @param {boolean} wasWrong Whether a token was refused before.
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
      element("h2", {}, wasWrong ? "Wrong token" : "This gateway requires a token"),
      element("label", { for: "token" }, "Token"),
      input,
      element(
        "p",
        { id: "token-note", class: "quiet" },
        "The gateway's MANYHANDS_TOKEN. It is kept until this tab closes.",
      ),
      element("button", { class: "primary" }, "Continue"),
      document.body.dataset.signIn !== undefined &&
        element("a", { href: document.body.dataset.signIn }, "Sign in instead"),
    );
    const dialog = element("dialog", { oncancel: (event) => event.preventDefault() }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}
