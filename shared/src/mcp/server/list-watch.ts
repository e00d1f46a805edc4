/** Notices when what is listed is other than it was, for as long as somebody is there to be told. */
export interface ListWatch {
  /** Begins to look, where it does not yet. */
  wake(): void;
}

type ListWatchDeps = {
  /** What there is to list now. */
  lists(): unknown;
  /** Whether somebody would hear of a change. */
  isHeard(): boolean;
  changed(): void;
  readonly everyMs: number;
};

/** Makes one that sleeps. */
export function createListWatch({ lists, isHeard, changed, everyMs }: ListWatchDeps): ListWatch {
  let known = "";
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    if (!isHeard()) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const now = JSON.stringify(lists());
    if (now === known) return;
    known = now;
    changed();
  };
  return {
    wake() {
      if (timer !== undefined) return;
      known = JSON.stringify(lists());
      timer = setInterval(look, everyMs);
      timer.unref();
    },
  };
}
