import type { StoredFile } from "manyhands/internal/core/workspace";
import { useEffect, useState } from "preact/hooks";
import { request } from "../../../api/client.ts";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

/** Types of pictures that cannot contain scripts. */
const pictureType = /^image\/(?:png|jpeg|gif|webp)$/;

/** Whether a file of this type is shown as a picture. */
const isPicture = (mediaType: string): boolean => pictureType.test(mediaType);

/** Where the gateway serves a stored file. */
export function artifactPath({ sha256, name }: Pick<StoredFile, "sha256" | "name">): string {
  return `/artifacts/${sha256}/${encodeURIComponent(name.split("/").at(-1) ?? name)}`;
}

/** The pictures that came with an event. */
export function picturesIn(event: object): readonly StoredFile[] {
  const images = "images" in event && Array.isArray(event.images) ? (event.images as StoredFile[]) : [];
  return images.filter(({ mediaType }) => isPicture(mediaType));
}

/** Stored pictures, one below the other. */
export function Pictures({ files }: { files: readonly StoredFile[] }) {
  return (
    <>
      {files
        .filter(({ mediaType }) => isPicture(mediaType))
        .map((file) => (
          <Picture key={file.sha256} path={artifactPath(file)} type={file.mediaType} name={file.name} />
        ))}
    </>
  );
}

/** A picture fetched by script, because its element does not carry the token. */
export function Picture({ path, type, name }: { path: string; type: string; name: string }) {
  const [source, setSource] = useState<string | undefined>(undefined);
  useEffect(() => {
    const gone = new AbortController();
    let href: string | undefined;
    request(path, { signal: gone.signal })
      .then((response) => response.arrayBuffer())
      .then(
        (bytes) => {
          if (gone.signal.aborted) return;
          href = URL.createObjectURL(new Blob([bytes], { type }));
          setSource(href);
        },
        () => undefined,
      );
    return () => {
      gone.abort();
      if (href !== undefined) URL.revokeObjectURL(href);
    };
  }, [path]);
  if (source === undefined) return <div class="picture" aria-busy="true" />;
  return <img class="picture" src={source} alt={words().run.picture(safeText(name))} />;
}
