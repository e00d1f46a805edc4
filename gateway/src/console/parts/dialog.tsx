import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { words } from "../words/words.ts";
import { Button } from "./button.tsx";
import { complain, openDialogs, Toasts } from "./toast.tsx";

/**
 * A dialog over the page, on the browser's own element: focus stays inside and returns to where it
 * came from. `onClose` is called when the person leaves it; without it, they cannot.
 */
export function Dialog({
  title,
  children,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose?: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    openDialogs.value = [...openDialogs.value, id];
    return () => {
      openDialogs.value = openDialogs.value.filter((one) => one !== id);
      shown?.close();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog; the click is one beside it.
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => event.target === dialog.current && onClose?.()}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <Toasts dialog={id} />
    </dialog>
  );
}

type Asking = {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says that does it. */
  readonly label: string;
  /** Does it; a failure is told, and the dialog stays. */
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
};

/** A dialog that asks whether something shall be done that cannot be undone. */
export function ConfirmDialog({ title, children, label, act, onClose }: Asking) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="acts">
        <Button look="fail" onClick={() => void act().catch(complain)}>
          {label}
        </Button>
        <Button onClick={onClose}>{words().cancel}</Button>
      </div>
    </Dialog>
  );
}

/** A dialog with a form, which is sent once at a time. */
export function FormDialog({
  title,
  children,
  label,
  act,
  onClose,
  disabled = false,
}: Asking & { readonly disabled?: boolean }) {
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    await act().catch(complain);
    setBusy(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {children}
        <div class="acts">
          <Button look="primary" type="submit" disabled={disabled || busy}>
            {label}
          </Button>
          <Button onClick={onClose}>{words().cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
