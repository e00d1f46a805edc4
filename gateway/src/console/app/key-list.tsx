import { Dialog } from "../parts/dialog.tsx";
import { keyText } from "../parts/keys.ts";
import { words } from "../words/words.ts";

/** What each key does. */
export function KeyList({ close }: { close: () => void }) {
  const text = words();
  return (
    <Dialog title={text.allKeys} onClose={close}>
      <dl class="kv keys">
        {text.keyList.map(([key, does]) => [
          <dt key={`${key} key`}>{does}</dt>,
          <dd key={`${key} does`}>
            <kbd>{keyText(key)}</kbd>
          </dd>,
        ])}
      </dl>
    </Dialog>
  );
}
