import type { Action } from '../../../core/plan-document.ts';

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

export function ActionSign({ action }: { readonly action: Action }) {
  return (
    <span class={`sign ${action}`}>
      <span aria-hidden="true">{SIGNS[action]}</span>
      <span class="unseen">{actionWords(action)}</span>
    </span>
  );
}

export function actionWords(action: Action): string {
  return action === 'no_op' ? 'nothing to do' : action;
}
