import { useEffect, useRef, useState } from "preact/hooks";
import { runPath } from "../../../api/catalog.ts";
import { get, request } from "../../../api/client.ts";
import { Button } from "../../../parts/button.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { Unavailable } from "../../../parts/not-found.tsx";
import { artifactPath } from "../../../parts/picture.tsx";
import { complain } from "../../../parts/toast.tsx";
import { place } from "../../../state/router.ts";
import { ageText, safeText, sizeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { save } from "../dialogs/act-on-runs.ts";
import type { RunPageStore } from "../run-store.ts";
import { FilePreview, type PreviewedFile } from "./file-preview.tsx";
import { FileTree } from "./file-tree.tsx";

type Listed = {
  readonly files: readonly {
    readonly runId: string;
    readonly agent: string;
    readonly path: string;
    readonly size: number;
    readonly modifiedAt: string;
  }[];
  readonly complete: boolean;
};

/** Milliseconds between two looks at the workspaces while the run goes on. */
const lookEveryMs = 3_000;

/** The files of a run: what it handed over, and the workspaces of its agents. */
export function FilesTab({ store }: { store: RunPageStore }) {
  const text = words().run;
  const run = store.run.value;
  const id = store.tree.root.runId;
  const [listed, setListed] = useState<Listed | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  const [tried, setTried] = useState(0);
  const ended = store.tree.root.ended !== undefined;
  useEffect(() => {
    const gone = new AbortController();
    const look = () =>
      get<Listed>(`${runPath(id)}/files`, gone.signal).then(
        (found) => {
          setListed(found);
          setFailed(false);
        },
        (error) => {
          if (gone.signal.aborted) return;
          complain(error);
          setFailed(true);
        },
      );
    void look();
    const timer = ended ? undefined : setInterval(() => document.hidden || void look(), lookEveryMs);
    return () => {
      gone.abort();
      clearInterval(timer);
    };
  }, [id, ended, tried]);
  const results: PreviewedFile[] = (run?.files ?? []).map((file) => ({
    ...{ key: `result/${file.sha256}/${file.name}`, group: text.results, path: file.name, size: file.size },
    source: artifactPath(file),
  }));
  const work: PreviewedFile[] = (listed?.files ?? []).map(({ runId, agent, path, size, modifiedAt }) => ({
    ...{ key: `${runId}/${path}`, group: agent, path, size, modifiedAt },
    source: `${runPath(runId)}/file?${new URLSearchParams({ path })}`,
  }));
  const all = [...results, ...work];
  const chosen = all.find(({ key }) => key === place.value.query.get("file"));
  const preview = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the file is below the list.
    if (chosen !== undefined && matchMedia("(max-width: 900px)").matches) preview.current?.scrollIntoView();
  }, [chosen?.key]);
  if (all.length === 0 && listed === undefined)
    return failed ? <Unavailable retry={() => setTried(tried + 1)} /> : <p class="sr">{words().loading}</p>;
  if (all.length === 0)
    return (
      <div class="scroll">
        <div class="alone">
          <Empty title={text.noFiles}>{text.noFilesMore}</Empty>
        </div>
      </div>
    );
  return (
    <div class="files-tab">
      <nav class="scroll file-list" aria-label={text.files}>
        <SaveAll id={id} />
        {[...Map.groupBy(all, ({ group }) => group)].map(([group, files]) => (
          <section key={group}>
            <h2 class="small t3">{safeText(group)}</h2>
            <FileTree files={files} chosen={chosen?.key} />
          </section>
        ))}
        {listed?.complete === false && <p class="t3 small">{text.moreFiles}</p>}
      </nav>
      <section class="scroll file-shown" ref={preview} aria-label={chosen?.path ?? text.pickFile}>
        {chosen ? <Shown key={chosen.key} file={chosen} /> : <p class="t3">{text.pickFile}</p>}
      </section>
    </div>
  );
}

/** All files in one archive, as they are now. */
function SaveAll({ id }: { id: string }) {
  const text = words().run;
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      save(await (await request(`${runPath(id)}/archive`)).blob(), `run-${id}.tar.gz`);
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="file-all">
      <Button icon="package" disabled={busy} onClick={() => void download()}>
        {busy ? text.packing : text.downloadAll}
      </Button>
    </div>
  );
}

function Shown({ file }: { file: PreviewedFile }) {
  const text = words().run;
  const download = async () => {
    try {
      save(await (await request(file.source)).blob(), file.path.split("/").at(-1) ?? file.path);
    } catch (error) {
      complain(error);
    }
  };
  const about = [sizeText(file.size), file.modifiedAt && text.changed(words().ago(ageText(file.modifiedAt)))];
  return (
    <>
      <div class="row file-head">
        <h2 class="cut mono">{safeText(file.path)}</h2>
        <span class="t3 small">{about.filter((one) => one !== undefined).join(" · ")}</span>
        <span class="grow" />
        <Button icon="download" onClick={() => void download()}>
          {text.download}
        </Button>
      </div>
      <FilePreview file={file} />
    </>
  );
}
