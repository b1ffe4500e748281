import type { Feature } from '../../feature.ts';

/** Shows what `validate` finds to programs that review a change: code scanning, test reports, annotations. */
export const review: Feature = {
  name: 'review',
  reports: {
    sarif: { isFile: true, load: async () => (await import('./sarif.ts')).renderReportSarif },
    junit: { isFile: true, load: async () => (await import('./junit.ts')).renderReportJunit },
    github: { isFile: false, load: async () => (await import('./junit.ts')).renderReportGithub },
  },
};
