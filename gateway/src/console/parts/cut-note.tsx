import { words } from "../words/words.ts";
import { Button } from "./button.tsx";

/** Says how much of something is shown, beside the way to all of it. */
export function CutNote({ said, showAll }: { readonly said: string; readonly showAll: () => void }) {
  return (
    <p class="row t3 small">
      {said}
      <Button look="ghost" onClick={showAll}>
        {words().showAll}
      </Button>
    </p>
  );
}
