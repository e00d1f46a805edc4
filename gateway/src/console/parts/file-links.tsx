import { request } from "../api/client.ts";
import { safeText, sizeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { iconOfFile } from "./composer.tsx";
import { Icon } from "./icons/icon.tsx";
import { artifactPath, isPicture, Picture } from "./picture.tsx";
import { complain } from "./toast.tsx";

/** A stored file. */
export type LinkedFile = {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
};

const lastName = (name: string) => name.split("/").at(-1) ?? name;

/** The name under which it is saved: nothing in it turns `exe.txt` into `txt.exe`. */
const savedName = (name: string) => safeText(lastName(name));

/** Files as download links, with previews of images unless left out. */
export function FileLinks({ files, previews = true }: { files: readonly LinkedFile[]; previews?: boolean }) {
  return (
    <ul class="list filelinks">
      {files.map((file) => (
        <li key={`${file.sha256}-${file.name}`}>
          <a
            class="li"
            href={`.${artifactPath(file)}`}
            download={savedName(file.name)}
            title={words().download(safeText(file.name))}
            onClick={(event) => {
              event.preventDefault();
              void saveFile(file).catch(complain);
            }}
          >
            <Icon name={iconOfFile(file.name)} small />
            <span class="grow cut">{safeText(file.name)}</span>
            <span class="t3 small num">{sizeText(file.size)}</span>
          </a>
          {previews && isPicture(file.mediaType) && (
            <Picture path={artifactPath(file)} type={file.mediaType} name={file.name} />
          )}
        </li>
      ))}
    </ul>
  );
}

/**
 * Saves a file to the person's machine; fetched by script, because links do not carry the token.
 */
async function saveFile(file: LinkedFile): Promise<void> {
  const bytes = await (await request(artifactPath(file))).arrayBuffer();
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = Object.assign(document.createElement("a"), { href, download: savedName(file.name) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
