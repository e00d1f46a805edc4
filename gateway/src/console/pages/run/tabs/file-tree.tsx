import { iconOfFile } from "../../../parts/composer.tsx";
import { Icon } from "../../../parts/icons/icon.tsx";
import { setQuery } from "../../../state/router.ts";
import { safeText, sizeText } from "../../../words/format.ts";
import { type Folder, folderOf } from "../model/folder.ts";
import type { PreviewedFile } from "./file-preview.tsx";

/** Folders with more files than this are closed at first. */
const maxOpen = 40;

/** Files in their folders, which open and close; one file may be chosen. */
export function FileTree({ files, chosen }: { files: readonly PreviewedFile[]; chosen: string | undefined }) {
  return <Branch folder={folderOf(files)} chosen={chosen} />;
}

type BranchProps = { readonly folder: Folder<PreviewedFile>; readonly chosen: string | undefined };

function Branch({ folder, chosen }: BranchProps) {
  return (
    <ul class="tree">
      {folder.folders.map((one) => (
        <li key={one.name}>
          <details open={one.count <= maxOpen || one.files.some(({ file }) => file.key === chosen)}>
            <summary class="file-row">
              <Icon name="right" small />
              <span class="cut">{safeText(one.name)}</span>
              <span class="t3 small end">{one.count}</span>
            </summary>
            <Branch folder={one} chosen={chosen} />
          </details>
        </li>
      ))}
      {folder.files.map(({ name, file }) => (
        <li key={file.key}>
          <button
            type="button"
            class="file-row"
            title={safeText(file.path)}
            {...(file.key === chosen && { "aria-current": "true" })}
            onClick={() => setQuery({ file: file.key })}
          >
            <Icon name={iconOfFile(file.path)} small />
            <span class="cut">{safeText(name)}</span>
            <span class="t3 small end">{sizeText(file.size)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
