import { useSignal } from "@preact/signals";
import { Button } from "../../../parts/button.tsx";
import { useKeys } from "../../../parts/keys.ts";
import { words } from "../../../words/words.ts";
import { endOf, startOf, type TreeItem } from "../model/items.ts";
import { type Extent, panned, zoomed } from "../model/zoom.ts";

/** How much a press zooms. */
const zoomStep = 2;

/** The part of the run's time that is shown, and what changes it. */
export type Zoom = ReturnType<typeof useZoom>;

/** Which part of a run's time is shown: all of it until the reader zooms. */
export function useZoom(whole: Extent, chosen: TreeItem | undefined) {
  const part = useSignal<Extent | undefined>(undefined);
  const shown = part.value ?? whole;
  // What is chosen stays in sight, else the middle.
  const middle =
    chosen === undefined ? (shown.from + shown.to) / 2 : (startOf(chosen) + (endOf(chosen) ?? whole.to)) / 2;
  const by = (factor: number) => () => {
    part.value = zoomed(shown, whole, factor, middle);
  };
  const zoom = {
    ...{ shown, whole, isPart: part.value !== undefined, closer: by(1 / zoomStep), farther: by(zoomStep) },
    show(extent: Extent | undefined): void {
      part.value = extent;
    },
    pan(share: number): void {
      if (part.value !== undefined) part.value = panned(shown, whole, share);
    },
  };
  useKeys({ "+": zoom.closer, "=": zoom.closer, "-": zoom.farther, "0": () => zoom.show(undefined) });
  return zoom;
}

/** The buttons that zoom; the keys + − 0 do the same. */
export function ZoomBar({ zoom }: { readonly zoom: Zoom }) {
  const text = words().find;
  return (
    <div class="zoom row" role="toolbar" aria-label={text.zoomHint} title={text.zoomHint}>
      <Button look="ghost" aria-label={text.zoomOut} disabled={!zoom.isPart} onClick={zoom.farther}>
        −
      </Button>
      <Button look="ghost" aria-label={text.zoomIn} onClick={zoom.closer}>
        +
      </Button>
      {zoom.isPart && (
        <Button look="ghost" onClick={() => zoom.show(undefined)}>
          {text.zoomFit}
        </Button>
      )}
    </div>
  );
}
