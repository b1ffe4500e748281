import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Action, PlanDocument } from '../../../core/plan-document.ts';

/** A sign, so that an action is told by more than its colour; its name for those who cannot see it. */
export const SIGNS: { readonly [action in Action]: string } = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '−',
  adopt: '=',
  forget: '×',
  no_op: '·',
};

/** What the document is for: in drift nothing is to be done, it was done. */
export const Purpose = createContext<PlanDocument['purpose']>('apply');

const DONE: { readonly [action in Action]?: string } = {
  create: 'made',
  update: 'changed',
  replace: 'replaced',
  delete: 'gone',
};

/** What an action is called in this document. */
export function useActionWords(): (action: Action) => string {
  const purpose = useContext(Purpose);
  const isPast = purpose === 'drift' || purpose === 'comparison';
  return (action) =>
    (isPast ? DONE[action] : undefined) ?? (action === 'no_op' ? 'nothing to do' : action);
}

export function ActionSign({ action }: { readonly action: Action }) {
  const wordsOf = useActionWords();
  return (
    <span class={`sign ${action}`}>
      <span aria-hidden="true">{SIGNS[action]}</span>
      <span class="unseen">{wordsOf(action)}</span>
    </span>
  );
}
