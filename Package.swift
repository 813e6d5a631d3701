// swift-tools-version: 6.3
import PackageDescription

// libFuzzer's targets, which only `make fuzz` builds: they link with -sanitize=fuzzer alone.
let fuzzing: [Target] =
  Context.environment["RETROGRADE_FUZZ"] == nil
  ? []
  : [
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "Retrograde", "RetrogradeEngine", "RetrogradeServer", "Containers", "Images", "GStreamer", "MediaTime",
        "Soup", "CSystemSupport",
      ],
      path: "Fuzz",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
  ]

// The plugin that makes the documentation, which only `make docs` needs.
let documenting: [Package.Dependency] =
  Context.environment["RETROGRADE_DOCS"] == nil
  ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A program as a user of the library writes it: it sees what is public, and nothing else.
func example(_ name: String, _ path: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["Retrograde", .product(name: "ArgumentParser", package: "swift-argument-parser")],
    path: path, packageAccess: false, swiftSettings: strict)
}

let package = Package(
  name: "retrograde",
  products: [
    .library(name: "Retrograde", targets: ["Retrograde", "RetrogradePlayer"]),
    // The objects of libgstretrograde.so; `make plugin` links them, with the Swift runtime in it.
    .library(name: "gstretrograde", type: .static, targets: ["RetrogradePlugin"]),
    .executable(name: "retrograde", targets: ["RetrogradeCommand"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
  ] + documenting,
  targets: [
    .systemLibrary(
      name: "CGStreamer",
      pkgConfig: "gstreamer-1.0 gstreamer-app-1.0 gstreamer-pbutils-1.0 gstreamer-video-1.0 gstreamer-audio-1.0",
      providers: [
        .apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])
      ]),
    .target(name: "CSystemSupport"),
    // The version, for C and Swift.
    .target(name: "CVersion"),
    .systemLibrary(
      name: "CImages",
      providers: [.apt(["libgif-dev", "libimagequant-dev", "libwebp-dev", "zlib1g-dev"])]),
    .systemLibrary(name: "CPango", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
    .systemLibrary(name: "CSoup", pkgConfig: "libsoup-3.0", providers: [.apt(["libsoup-3.0-dev"])]),
    .target(name: "Soup", dependencies: ["CSoup"], swiftSettings: strict),
    .target(name: "Drawing", dependencies: ["CPango"], swiftSettings: strict),
    .target(name: "Images", dependencies: ["CImages", "Paths"], swiftSettings: strict),
    .target(name: "MediaTime", swiftSettings: strict),
    .target(name: "Paths", swiftSettings: strict),
    .target(
      name: "GStreamer", dependencies: ["CGStreamer", "MediaTime", "Paths", "CSystemSupport"], swiftSettings: strict),
    .target(name: "Quirks", dependencies: ["GStreamer", "MediaTime"], swiftSettings: strict),
    .target(name: "Containers", dependencies: ["MediaTime", "Paths"], swiftSettings: strict),
    .target(
      name: "RetrogradeEngine",
      dependencies: ["Containers", "GStreamer", "MediaTime", "Paths", "Quirks", "CSystemSupport"],
      swiftSettings: strict),
    .target(
      name: "Retrograde",
      dependencies: [
        "RetrogradeEngine", "Containers", "Drawing", "Images", "GStreamer", "MediaTime", "Paths", "Quirks",
        "CSystemSupport", "CVersion",
      ], swiftSettings: strict),
    .target(name: "CGStreamerSupport", dependencies: ["CGStreamer", "CVersion"]),
    .target(
      name: "RetrogradePlugin",
      dependencies: [
        "RetrogradeEngine", "GStreamer", "CGStreamer", "CGStreamerSupport", "CVersion", "MediaTime", "Paths", "Quirks",
      ],
      swiftSettings: strict),
    .target(
      name: "RetrogradePlayer", dependencies: ["RetrogradeEngine", "RetrogradePlugin", "GStreamer", "MediaTime"],
      swiftSettings: strict),
    .target(
      name: "RetrogradeServer",
      dependencies: [
        "Retrograde", "RetrogradeEngine", "Containers", "GStreamer", "MediaTime", "Paths", "Soup", "CVersion",
        "CSystemSupport",
      ],
      resources: [.embedInCode("Page/page.html"), .embedInCode("Page/list.html")],
      swiftSettings: strict),
    .executableTarget(
      name: "RetrogradeCommand",
      dependencies: [
        "Retrograde", "RetrogradeEngine", "RetrogradePlayer", "RetrogradeServer", "Paths", "CSystemSupport", "CVersion",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    example("example-animated-curve", "Examples/AnimatedCurve"),
    example("example-captioned-picture", "Examples/CaptionedPicture"),
    example("example-titled-boomerang", "Examples/TitledBoomerang"),
    example("example-film-strips", "Examples/FilmStrips"),
    .target(
      name: "TestSupport", dependencies: ["Retrograde", "Containers", "GStreamer", "MediaTime", "CImages"],
      path: "Tests/TestSupport",
      swiftSettings: strict),
    // What the documentation shows as code.
    .target(
      name: "ArticleSamples", dependencies: ["Retrograde", "RetrogradePlayer"], path: "Tests/Samples",
      packageAccess: false, swiftSettings: strict),
    .target(
      name: "TutorialSamples", dependencies: ["Retrograde", "RetrogradePlayer"],
      path: "Sources/Retrograde/Retrograde.docc/Tutorials/Code", packageAccess: false, swiftSettings: strict),
    .testTarget(
      name: "RetrogradeTests",
      dependencies: [
        "Retrograde", "RetrogradePlayer", "RetrogradeEngine", "Containers", "GStreamer", "CGStreamer", "MediaTime",
        "Paths", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ContainersTests", dependencies: ["Containers", "MediaTime", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "QuirksTests", dependencies: ["Quirks", "GStreamer", "CGStreamer", "MediaTime", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RetrogradePluginTests",
      dependencies: [
        "RetrogradePlugin", "RetrogradeEngine", "GStreamer", "MediaTime", "Paths", "CGStreamer", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RetrogradeServerTests",
      dependencies: [
        "RetrogradeServer", "Retrograde", "RetrogradeEngine", "MediaTime", "Paths", "Soup", "TestSupport",
        "CSystemSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RetrogradeCommandTests",
      dependencies: [
        "RetrogradeCommand", "Retrograde", "RetrogradeEngine", "GStreamer", "MediaTime", "Paths", "Quirks",
        "TestSupport",
      ],
      swiftSettings: strict),
  ] + fuzzing,
  swiftLanguageModes: [.v6]
)
