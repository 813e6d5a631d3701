import Retrograde

func runAPipelineFile() async throws {
  let file = try PipelineFile(path: "caption.pipeline")
  for parameter in file.parameters { print(parameter.name, parameter.fallback ?? "must be given") }
  let values = ["input": "a.mp4", "output": "b.mp4", "caption": "once more"]
  try await file.check(values)
  let summary = try await file.start(values).summary()
  print(summary.frames)
}

func printPipelines() async throws {
  let pipelines = try await Reverser("a.mp4").pipelines(to: "b.mp4")
  print(pipelines.file)
}
