import { useEffect, useState } from "preact/hooks";
import { request } from "../api/client.ts";
import { safeText } from "../words/format.ts";
import { words } from "../words/words.ts";

/** Types of pictures that cannot contain scripts. */
const pictureType = /^image\/(?:png|jpeg|gif|webp)$/;

/** Whether a file of this type is shown as a picture. */
export const isPicture = (mediaType: string): boolean => pictureType.test(mediaType);

/** Where the gateway serves a stored file, whatever address this page has. */
export function artifactPath({ sha256, name }: { readonly sha256: string; readonly name: string }): string {
  return `/artifacts/${sha256}/${encodeURIComponent(name.split("/").at(-1) ?? name)}`;
}

/** A picture fetched by script, because its element does not carry the token. */
export function Picture({ path, type, name }: { path: string; type: string; name: string }) {
  const [source, setSource] = useState<string | undefined | null>(undefined);
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
        () => setSource(null),
      );
    return () => {
      gone.abort();
      if (href !== undefined) URL.revokeObjectURL(href);
    };
  }, [path]);
  const text = words().run;
  if (source === undefined) return <div class="picture" aria-busy="true" />;
  if (source === null) return <p class="no-picture t3">{text.noPreview}</p>;
  return <img class="picture" src={source} alt={text.picture(safeText(name))} onError={() => setSource(null)} />;
}
