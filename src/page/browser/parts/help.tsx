import { useEffect, useRef } from 'preact/hooks';

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['j', '↓'], 'next change'],
  [['k', '↑'], 'previous change'],
  [['Enter'], 'open it, and read it from the top'],
  [['Esc'], 'back to the list; in the search, clear it'],
  [['/'], 'search'],
  [['c'], 'changes'],
  [['g'], 'graph around the change'],
  [['t'], 'time line, where there is one'],
  [['n'], 'notes'],
  [['?'], 'this help'],
];

export type HelpProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly areKeysOn: boolean;
  readonly onKeys: (areOn: boolean) => void;
};

/** What the keys do, and the switch that turns single ones off for those whom they are in the way of. */
export function Help({ isOpen, onClose, areKeysOn, onKeys }: HelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, does]) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <div class="row">
        <label>
          <input
            type="checkbox"
            checked={areKeysOn}
            onChange={({ currentTarget }) => onKeys(currentTarget.checked)}
          />
          Single keys do this
        </label>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
