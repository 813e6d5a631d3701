/// Identifiers of Matroska's EBML elements (RFC 9559, 5.1).
enum MatroskaID {
  /// EBML header: the first element of a file, and of each file in a concatenation.
  static let ebml: UInt32 = 0x1A45_DFA3
  static let segment: UInt32 = 0x1853_8067
  static let cluster: UInt32 = 0x1F43_B675

  static let checksum: UInt32 = 0xBF
  static let void: UInt32 = 0xEC
  /// EBML elements that are allowed anywhere (RFC 8794, 11.3).
  static let anywhere: Set = [checksum, void]
  /// EBML elements that are allowed in a Matroska segment. The number stands for Attachments.
  static let inSegment = anywhere.union([
    cluster, info, tracks, tags, seekHead, chapters, cues, 0x1941_A469,
  ])
  /// EBML elements that are allowed in a cluster. The numbers stand for Position, PrevSize,
  /// SilentTracks and EncryptedBlock.
  static let inCluster = anywhere.union([timestamp, simpleBlock, blockGroup, 0xA7, 0xAB, 0x5854, 0xAF])

  static let info: UInt32 = 0x1549_A966
  static let timestampScale: UInt32 = 0x2AD7_B1
  static let timestamp: UInt32 = 0xE7
  static let simpleBlock: UInt32 = 0xA3
  static let blockGroup: UInt32 = 0xA0
  static let block: UInt32 = 0xA1
  static let blockDuration: UInt32 = 0x9B
  static let duration: UInt32 = 0x4489
  static let dateUTC: UInt32 = 0x4461

  static let tracks: UInt32 = 0x1654_AE6B
  static let trackEntry: UInt32 = 0xAE
  static let trackUID: UInt32 = 0x73C5
  static let trackNumber: UInt32 = 0xD7
  static let trackType: UInt32 = 0x83
  static let targetTypeValue: UInt32 = 0x68CA
  static let codec: UInt32 = 0x86
  static let contentEncodings: UInt32 = 0x6D80
  static let audio: UInt32 = 0xE1
  static let samplingFrequency: UInt32 = 0xB5
  static let channels: UInt32 = 0x9F
  static let bitDepth: UInt32 = 0x6264
  static let flagDefault: UInt32 = 0x88
  static let flagForced: UInt32 = 0x55AA
  static let flagHearingImpaired: UInt32 = 0x55AB
  static let flagVisualImpaired: UInt32 = 0x55AC
  static let flagTextDescriptions: UInt32 = 0x55AD
  static let flagOriginal: UInt32 = 0x55AE
  static let flagCommentary: UInt32 = 0x55AF
  static let codecDelay: UInt32 = 0x56AA
  static let name: UInt32 = 0x536E
  static let language: UInt32 = 0x22B59C
  static let languageBCP47: UInt32 = 0x22B59D
  static let video: UInt32 = 0xE0
  static let blockAdditionMapping: UInt32 = 0x41E4
  static let blockAddIDType: UInt32 = 0x41E7
  static let projection: UInt32 = 0x7670
  static let projectionType: UInt32 = 0x7671
  static let projectionPoseYaw: UInt32 = 0x7673
  static let projectionPosePitch: UInt32 = 0x7674
  static let projectionPoseRoll: UInt32 = 0x7675
  /// EBML elements for the number of pixels to crop at the bottom, top, left and right.
  static let pixelCrops: Set<UInt32> = [0x54AA, 0x54BB, 0x54CC, 0x54DD]
  static let stereoMode: UInt32 = 0x53B8
  static let interlaced: UInt32 = 0x9A
  static let fieldOrder: UInt32 = 0x9D
  static let pixelWidth: UInt32 = 0xB0
  static let pixelHeight: UInt32 = 0xBA
  static let displayWidth: UInt32 = 0x54B0
  static let displayHeight: UInt32 = 0x54BA
  static let displayUnit: UInt32 = 0x54B2
  static let colour: UInt32 = 0x55B0
  static let matrixCoefficients: UInt32 = 0x55B1
  static let transferCharacteristics: UInt32 = 0x55BA
  static let masteringMetadata: UInt32 = 0x55D0
  static let luminanceMax: UInt32 = 0x55D9
  static let luminanceMin: UInt32 = 0x55DA

  static let seekHead: UInt32 = 0x114D_9B74
  static let cues: UInt32 = 0x1C53_BB6B
  static let seek: UInt32 = 0x4DBB
  static let seekID: UInt32 = 0x53AB
  static let seekPosition: UInt32 = 0x53AC

  static let chapters: UInt32 = 0x1043_A770
  static let editionEntry: UInt32 = 0x45B9
  static let editionFlagHidden: UInt32 = 0x45BD
  static let chapterAtom: UInt32 = 0xB6
  static let chapterTimeStart: UInt32 = 0x91
  static let chapterTimeEnd: UInt32 = 0x92
  static let chapterFlagHidden: UInt32 = 0x98
  static let chapterFlagEnabled: UInt32 = 0x4598
  static let chapterDisplay: UInt32 = 0x80
  static let chapString: UInt32 = 0x85

  static let tags: UInt32 = 0x1254_C367
  static let tag: UInt32 = 0x7373
  static let simpleTag: UInt32 = 0x67C8
  static let tagName: UInt32 = 0x45A3
  static let tagString: UInt32 = 0x4487
  static let tagBinary: UInt32 = 0x4485
  static let targets: UInt32 = 0x63C0
  static let tagTrackUID: UInt32 = 0x63C5
  /// EBML elements by which a tag refers to an edition, a chapter or an attachment.
  static let targetsOfOthers: Set<UInt32> = [0x63C9, 0x63C4, 0x63C6]
}
