import { useEffect, useState } from "preact/hooks";
import { request } from "../../../api/client.ts";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

/** The most bytes of a document that is shown. */
const maxBytes = 64_000_000;

type Document = {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt?: string;
  /** Where the API has its content. */
  readonly source: string;
};

/** A PDF in the browser's own viewer; a browser without one says that it can be downloaded. */
export function DocumentView({ file }: { file: Document }) {
  const text = words().run;
  const [source, setSource] = useState<string | undefined | null>(undefined);
  const fits = file.size <= maxBytes && navigator.pdfViewerEnabled;
  useEffect(() => {
    if (!fits) return;
    const gone = new AbortController();
    let href: string | undefined;
    request(file.source, { signal: gone.signal })
      .then((response) => response.arrayBuffer())
      .then(
        (bytes) => {
          if (gone.signal.aborted) return;
          // Never another type: whatever the file is, it is not a page of this origin.
          href = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
          setSource(href);
        },
        () => setSource(null),
      );
    return () => {
      gone.abort();
      if (href !== undefined) URL.revokeObjectURL(href);
    };
  }, [file.source, file.modifiedAt, fits]);
  if (!fits || source === null) return <p class="t3">{text.noDocument}</p>;
  if (source === undefined) return <p class="t3">{words().loading}</p>;
  return <iframe class="page-shown" src={source} title={text.documentOf(safeText(file.path))} />;
}
