import { useRef } from "preact/hooks";
import { tokenQuestion } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { signInPath } from "../state/store.ts";
import { words } from "../words/words.ts";

/** Asks for this gateway's token while a request needs one. */
export function TokenDialog() {
  const input = useRef<HTMLInputElement>(null);
  const question = tokenQuestion.value;
  if (question === undefined) return null;
  const text = words();
  return (
    <Dialog title={question.wasWrong ? text.tokenWrong : text.tokenTitle}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          question.answer(input.current?.value.trim() ?? "");
        }}
      >
        <label class="label" for="token">
          {text.token}
        </label>
        <div class="field">
          <input ref={input} id="token" type="password" required autocomplete="off" aria-describedby="token-note" />
        </div>
        <p id="token-note" class="t3 small note">
          {text.tokenNote}
        </p>
        <div class="acts">
          <Button look="primary" type="submit">
            {text.continue}
          </Button>
          {signInPath !== undefined && (
            <a class="btn ghost" href={signInPath}>
              {text.signInInstead}
            </a>
          )}
        </div>
      </form>
    </Dialog>
  );
}
