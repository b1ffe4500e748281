import {
  type RestorationException,
  type RestorationSummary,
  renderRestorationText,
} from '../../render/restoration.ts';
import type { Context } from '../context.ts';
import type { Session } from '../session.ts';
import { endingsOf, restorationExceptions } from './exceptions.ts';
import type { Opened } from './open.ts';
import type { Overview } from './overview.ts';

/** What is carried from round to round. */
export type Progress = {
  readonly runs: string[];
  readonly exceptions: RestorationException[];
  collisions: RestorationSummary['collisions'];
  secrets: RestorationSummary['secrets'];
};

/** Shows what came of a restoration: every way of showing it is made of the same document. */
export function showSummary(
  status: RestorationSummary['status'],
  overview: Overview,
  progress: Progress,
  about: {
    readonly platform: Session['platform'];
    readonly opened: Opened;
    readonly flags: { readonly format: 'text' | 'json' };
    readonly context: Context;
  },
): void {
  const { plan, proof } = overview;
  const { platform, opened, flags, context } = about;
  const { holding, choice, state } = opened;
  const summary: RestorationSummary = {
    format: 'callsheet-restoration',
    version: 1,
    status,
    snapshot: {
      file: holding.file,
      made_at: holding.header.made_at,
      sha256: holding.sha256,
    },
    platform,
    mapped: Object.fromEntries(choice.places),
    state,
    runs: progress.runs,
    remaining: plan.changes
      .filter(({ action }) => action !== 'adopt')
      .map(({ address, action, verdict, reason, fields }) => ({
        address,
        action,
        verdict,
        reason,
        paths: action === 'create' ? [] : fields.map(({ path }) => path),
      })),
    proof: status === 'done' ? proof : null,
    collisions: progress.collisions,
    secrets: progress.secrets,
    exceptions: [
      ...restorationExceptions(overview, opened),
      ...progress.exceptions,
      ...endingsOf(opened),
    ],
  };
  const { terminal } = context;
  terminal.out(
    flags.format === 'json'
      ? JSON.stringify(summary, null, 2)
      : renderRestorationText(summary, terminal.render),
  );
}
