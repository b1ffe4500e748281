import { onTestFinished } from 'vitest';
import type { StatePlace } from '../../../../src/core/stores.ts';
import type { LockEffects } from '../../../../src/state/lock.ts';
import type { StateStore } from '../../../../src/state/store.ts';

/** What goes wrong with a step that a store takes outside the process: it is not taken, or nobody hears that it was. */
export type Fault = { readonly error: () => Error; readonly done: boolean } | undefined;

export type Opening = {
  readonly effects?: Partial<LockEffects>;
  /** Asked before every step, counted from 1. */
  readonly fault?: (step: number) => Fault | Promise<Fault>;
};

/** Of a view that waits for nothing: the holder whose lease it takes away is not given the time to notice. */
export const WITHOUT_WAITING: Opening = { effects: { sleep: async () => {} } };

/** A state of its own in the store under test. */
export type StateFixture = {
  /** Another process's view of it. */
  readonly open: (opening?: Opening) => StateStore;
  /** Everything that is kept of it, in one text. */
  readonly dump: () => Promise<string>;
  /** Changes what is kept behind the store's back. */
  readonly spoil: (how: 'damaged' | 'newer') => Promise<void>;
  /** As a stack names it, with what must be in the environment. */
  readonly place: StatePlace;
  readonly env: Readonly<Record<string, string>>;
  /** Closes every view. */
  readonly close: () => Promise<void>;
  /** What must show up in no message and in nothing that is kept. */
  readonly credentials: readonly string[];
};

/** Views that are closed with the test at the latest. */
export function openViews() {
  const views: StateStore[] = [];
  const close = async () => {
    await Promise.all(views.splice(0).map((view) => view.close()));
  };
  onTestFinished(close);
  return {
    close,
    add(view: StateStore): StateStore {
      views.push(view);
      return view;
    },
  };
}

/** A connection that is lost, as the store's client reports it; undefined where there is none. */
export type Loss = (() => Error) | undefined;
