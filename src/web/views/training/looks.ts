/** Colours of what a step's time is spent on: CSS variables, of training.css and the chart's. */
const COLOURS: Readonly<Record<string, string>> = {
  compute: "--step-compute",
  bubble: "--step-bubble",
  tensor: "--chart-2",
  data: "--chart-3",
  copies: "--chart-3",
  pipeline: "--chart-4",
  experts: "--chart-5",
  context: "--chart-1",
  expertTensor: "--chart-6",
  expertCopies: "--warn",
};

export const colourOf = (kind: string): string => COLOURS[kind] ?? "--soft";
