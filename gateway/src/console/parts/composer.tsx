import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Draft } from "../state/drafts.ts";
import { sizeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { IconButton } from "./button.tsx";
import { Icon, type IconName } from "./icons/icon.tsx";

/**
 * Where a person writes to agents: a text that grows, files by drop, paste or button, and a bar of
 * controls. Ctrl or ⌘ with Enter sends; the draft is emptied by who sent it.
 */
export function Composer({
  draft,
  label,
  placeholder,
  rows = 3,
  busy,
  onSend,
  children,
}: {
  readonly draft: Draft;
  readonly label: string;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly busy: boolean;
  readonly onSend: () => void;
  /** The controls after the button for files. */
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const add = (files: Iterable<File> | null | undefined) => {
    const given = [...(files ?? [])];
    if (given.length > 0) draft.files.value = [...draft.files.value, ...given];
  };
  return (
    <form
      class={over ? "composer over" : "composer"}
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) onSend();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        add(event.dataTransfer?.files);
      }}
    >
      <label class="sr" for={id}>
        {label}
      </label>
      <textarea
        dir="auto"
        id={id}
        rows={rows}
        placeholder={placeholder ?? ""}
        value={draft.text.value}
        onInput={(event) => {
          draft.text.value = event.currentTarget.value;
        }}
        onPaste={(event) => {
          const { files = [] } = event.clipboardData ?? {};
          if (files.length === 0) return;
          event.preventDefault();
          add(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <FileChips draft={draft} />
      <div class="bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label={words().files}
          onChange={(event) => {
            add(event.currentTarget.files);
            event.currentTarget.value = "";
          }}
        />
        <IconButton icon="clip" label={words().addFiles} onClick={() => picker.current?.click()} />
        {children}
      </div>
    </form>
  );
}

function FileChips({ draft }: { draft: Draft }) {
  const files = draft.files.value;
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label={words().files}>
      {files.map((file) => (
        <li class="chipfile" key={`${file.name}-${file.size}-${file.lastModified}`}>
          <Icon name={iconOfFile(file.name)} small />
          {file.name} <span class="t3">{sizeText(file.size)}</span>
          <button
            type="button"
            aria-label={words().removeFile(file.name)}
            onClick={() => {
              draft.files.value = files.filter((one) => one !== file);
            }}
          >
            <Icon name="close" small />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The icon of a file, by its name. */
export function iconOfFile(name: string): IconName {
  const ending = name.split(".").at(-1)?.toLowerCase() ?? "";
  if (["csv", "tsv", "xlsx", "xls", "parquet"].includes(ending)) return "table";
  if (["gz", "zip", "tar", "tgz"].includes(ending)) return "package";
  if (["png", "jpg", "jpeg", "gif", "webp", "svg"].includes(ending)) return "image";
  return ending === "patch" || ending === "diff" ? "pen" : "file";
}
