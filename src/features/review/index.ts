import type { Feature } from '../../feature.ts';

/**
 * What reviewers have of a change: what to look at in a long text, and what `validate` finds as programs of theirs read it:
 * code scanning, test reports, annotations.
 */
export const review: Feature = {
  name: 'review',
  callouts: async () => (await import('./callouts/callouts.ts')).createCalloutFinder(),
  reports: {
    sarif: { isFile: true, load: async () => (await import('./sarif.ts')).renderReportSarif },
    junit: { isFile: true, load: async () => (await import('./junit.ts')).renderReportJunit },
    github: { isFile: false, load: async () => (await import('./junit.ts')).renderReportGithub },
  },
};
