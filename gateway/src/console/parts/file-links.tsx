import { useEffect, useState } from "preact/hooks";
import { request } from "../api/client.ts";
import { safeText, sizeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { iconOfFile } from "./composer.tsx";
import { Icon } from "./icons/icon.tsx";
import { complain } from "./toast.tsx";

/** A stored file. */
export type LinkedFile = {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
};

/** Image types that are shown: only those that cannot contain scripts. */
const imageType = /^image\/(?:png|jpeg|gif|webp)$/;

const lastName = (name: string) => name.split("/").at(-1) ?? name;

/** The name under which it is saved: nothing in it turns `exe.txt` into `txt.exe`. */
const savedName = (name: string) => safeText(lastName(name));

/** Where the gateway serves a file, whatever address this page has. */
function artifactPath({ name, sha256 }: Pick<LinkedFile, "name" | "sha256">): string {
  return `/artifacts/${sha256}/${encodeURIComponent(lastName(name))}`;
}

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
          {previews && imageType.test(file.mediaType) && <Picture file={file} />}
        </li>
      ))}
    </ul>
  );
}

/** Fetched by script, because neither links nor images carry the token. */
async function contentOf(file: LinkedFile, type: string): Promise<string> {
  const bytes = await (await request(artifactPath(file))).arrayBuffer();
  return URL.createObjectURL(new Blob([bytes], { type }));
}

/** Saves a file to the person's machine. */
async function saveFile(file: LinkedFile): Promise<void> {
  const href = await contentOf(file, "application/octet-stream");
  const link = Object.assign(document.createElement("a"), { href, download: savedName(file.name) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

function Picture({ file }: { file: LinkedFile }) {
  const [source, setSource] = useState<string | undefined>(undefined);
  useEffect(() => {
    let made: string | undefined;
    let gone = false;
    contentOf(file, file.mediaType).then(
      (url) => {
        made = url;
        if (gone) URL.revokeObjectURL(url);
        else setSource(url);
      },
      () => undefined,
    );
    return () => {
      gone = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [file.sha256]);
  return source === undefined ? null : <img class="picture" src={source} alt={safeText(file.name)} />;
}
